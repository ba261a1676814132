//! Rules `union` and `union-strict` in constant time, for the tags that real
//! programs have.
//!
//! **Regular tags.** A field is *clear* if no other field of its type reaches
//! into its slot, and all inside it keeps to the slot. A tag that accesses one
//! scalar, and comes to it through clear fields only, is regular: to its bytes
//! leads one way from its base. So its cursors are as those of rule `llvm`, and
//! two regular tags of one root and format share a byte iff one's cursor lies
//! on the other's walk. (That is the theorem that both rules agree where nothing
//! overlaps.)
//!
//! **Irregular tags**: see [`inferred`] for the old format and [`sized`] for the
//! new, and [`own_size`] for accesses with sizes of their own. What these do not
//! cover is unindexed. All agree with the definition, where no limit is reached;
//! feature `self-check` compares them on every query.

mod clear;
mod inferred;
mod own_size;
mod sized;

use super::access::Resolved;
use super::types::Types;
use crate::graph::{Format, Graph, TagId};
use crate::oracle::access::Access;
use crate::oracle::index::{Index, Role};
use crate::oracle::limits::{Allowance, JUDGED, JUDGED_A_NODE, STEPS};
use crate::oracle::rule::Candidates;
use clear::{Aside, is_within, walk};
use own_size::decides_as_tags;

/// What is known of irregular tags.
#[derive(Clone, Debug)]
pub(super) struct UnionTables {
    inferred: inferred::InferredTables,
    sized: sized::SizedTables,
    irregular: Vec<Irregular>,
    allowance: Allowance,
    strict: bool,
}

#[derive(Clone, Debug)]
enum Irregular {
    Inferred(inferred::Crossings),
    Sized(sized::Bytes),
}

impl UnionTables {
    pub(super) fn new(strict: bool) -> Self {
        let (inferred, irregular) = Default::default();
        let sized = sized::SizedTables::new();
        let allowance = Allowance::new(JUDGED, JUDGED_A_NODE);
        UnionTables { inferred, sized, irregular, allowance, strict }
    }

    /// Adds the graph's next tag to the index. Returns whether it was judged with
    /// as many steps as the definition has.
    pub(super) fn add(
        &mut self,
        types: &Types,
        graph: &Graph,
        index: &mut Index,
        tag: TagId,
    ) -> bool {
        let Ok(access) = Resolved::new(types, graph, tag.into()) else {
            index.push_rejected();
            return true;
        };
        // All else under its root lies in an object of the root.
        let of_access = types.get(access.access);
        if of_access.format.is_none() && access.is_whole() {
            index.push_rejected();
            return true;
        }
        // Tags of two formats under one root may alias, as those of two roots.
        let format = access.format(types);
        let root = 2 * of_access.root + u32::from(format == Format::New);
        match self.place(types, graph, index, &access) {
            Err(Aside::Rejected) => index.push_rejected(),
            Err(Aside::Limited) => {
                index.push_rejected();
                return !self.allowance.is_short(graph.node_count(), STEPS);
            }
            Err(Aside::Unindexed) => {
                let covers = of_access.scalar && access.is_whole();
                let start = covers.then_some((access.access, 0));
                let cursor = start.and_then(|start| clear::add_walk(types, index, start));
                index.push_unindexed(root, cursor);
            }
            Ok((cursor, None)) => index.push_regular(root, cursor),
            Ok((cursor, Some(irregular))) => {
                let (bases, is_met) = match &irregular {
                    // What comes to its base and may alias it is on one way with it.
                    Irregular::Inferred(crossings) => {
                        (self.inferred.bases(index, cursor, crossings), false)
                    }
                    Irregular::Sized(bytes) => (self.sized.bases(types, access.base, bytes), true),
                };
                self.irregular.push(irregular);
                index.push_irregular(root, cursor, bases, is_met);
            }
        }
        true
    }

    /// As [`Rule::was_short`](crate::oracle::rule::Rule::was_short).
    pub(super) fn was_short(&self) -> bool {
        self.allowance.was_short || self.inferred.was_short() || self.sized.was_short()
    }

    /// Returns a tag's cursor, and what else is to be known of an irregular tag.
    fn place(
        &mut self,
        types: &Types,
        graph: &Graph,
        index: &mut Index,
        access: &Resolved,
    ) -> Result<(u32, Option<Irregular>), Aside> {
        let of_access = types.get(access.access);
        if of_access.scalar {
            match walk(types, index, (access.base, access.offset), access) {
                Some(Some(cursor)) if is_within(types, access) => return Ok((cursor, None)),
                // Without arrays there is no other way to an offset.
                Some(None) if !types.get(access.base).arrays => return Err(Aside::Rejected),
                _ => {}
            }
        }
        let UnionTables { inferred, sized, allowance, strict, .. } = self;
        allowance.within(graph.node_count(), STEPS, |budget| match access.format(types) {
            Format::Old => {
                let (cursor, found) =
                    inferred.add(types, index, graph, (access, *strict), budget)?;
                Ok((cursor, Some(Irregular::Inferred(found))))
            }
            Format::New => {
                let (cursor, found) = sized.add(types, index, graph, (access, *strict), budget)?;
                Ok((cursor, Some(Irregular::Sized(found))))
            }
        })
    }

    /// Decides on two tags of one root and format, of which one is irregular;
    /// `None` leaves it to the definition.
    pub(super) fn decide(
        &self,
        types: &Types,
        graph: &Graph,
        index: &Index,
        (a, b): (TagId, TagId),
    ) -> Option<bool> {
        let roles = [a, b].map(|tag| index.role(tag.index()));
        if a == b {
            return Some(true);
        }
        let irregular = |role: Role| match role {
            Role::Irregular(_, _, number) => Some(&self.irregular[number as usize]),
            _ => None,
        };
        let cursor = |role: Role| match role {
            Role::Regular(_, cursor) | Role::Irregular(_, cursor, _) => Some(cursor),
            Role::Rejected | Role::Unindexed(_) => None,
        };
        let cursors = (cursor(roles[0])?, cursor(roles[1])?);
        match roles.map(irregular) {
            [Some(Irregular::Sized(_)), _] | [_, Some(Irregular::Sized(_))] => {
                let side = |tag, cursor, class| {
                    let bytes = match irregular(class) {
                        Some(Irregular::Sized(bytes)) => Some(bytes),
                        _ => None,
                    };
                    sized::SizedTag { tag, cursor, bytes }
                };
                let sides = (&side(a, cursors.0, roles[0]), &side(b, cursors.1, roles[1]));
                let resolve = |tag: TagId| Resolved::new(types, graph, tag.into()).ok();
                self.sized.may_alias(types, index, sides, self.strict, resolve)
            }
            crossings => {
                let [x, y] = crossings.map(|irregular| match irregular {
                    Some(Irregular::Inferred(crossings)) => Some(crossings),
                    _ => None,
                });
                let sides = ((cursors.0, x), (cursors.1, y));
                Some(self.inferred.may_alias(types, index, sides))
            }
        }
    }

    /// Decides on two accesses of which at least one has a size of its own; `None`
    /// leaves them to the definition.
    pub(super) fn decide_sized(
        &self,
        types: &Types,
        graph: &Graph,
        index: &Index,
        (a, b): (Access, Access),
    ) -> Option<bool> {
        let (of_a, of_b) = (a.tag?, b.tag?);
        let decided = index.decide(of_a.index, of_b.index);
        // More bytes are more to meet, and no tag is regular for having few.
        if of_a == of_b || decided == Some(true) {
            return Some(true);
        }
        let base = |tag: TagId| match index.role(tag.index()) {
            Role::Regular(_, cursor) => Some((index.ty(cursor), Some(cursor))),
            Role::Irregular(_, cursor, _) => Some((index.ty(cursor), None)),
            Role::Rejected | Role::Unindexed(_) => None,
        };
        let ((base_a, regular_a), (base_b, regular_b)) = (base(of_a)?, base(of_b)?);
        if !types.may_hold(base_a, base_b) && !types.may_hold(base_b, base_a) {
            return Some(false);
        }
        let resolve = |access: Access| Resolved::new(types, graph, access).ok();
        let (own_a, own_b) = (resolve(a)?, resolve(b)?);
        if let (Some(x), Some(y)) = (regular_a, regular_b) {
            return decides_as_tags(types, index, (x, own_a), (y, own_b)).then_some(false);
        }
        let same =
            resolve(of_a.into())?.size == own_a.size && resolve(of_b.into())?.size == own_b.size;
        same.then(|| self.decide(types, graph, index, (of_a, of_b))).flatten()
    }

    /// Says which tags an irregular one may alias at most.
    pub(super) fn candidates(&self, index: &Index, tag: TagId) -> Option<Candidates> {
        let Role::Irregular(_, cursor, number) = index.role(tag.index()) else { return None };
        let bases = match &self.irregular[number as usize] {
            Irregular::Inferred(crossings) => self.inferred.candidates(index, cursor, crossings),
            Irregular::Sized(bytes) => self.sized.candidates(bytes)?,
        };
        Some(Candidates { bases, base: index.ty(cursor) })
    }
}

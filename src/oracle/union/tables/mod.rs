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
//! new. What these do not cover is unindexed, and so are accesses of a size of
//! their own. All agree with the definition, where no limit is reached; feature
//! `self-check` compares them on every query.

mod inferred;
mod sized;

use super::Engine;
use super::access::Resolved;
use super::types::{TypeIndex, Types};
use crate::graph::{Format, Graph, TagId};
use crate::oracle::index::{Class, Index};
use crate::oracle::limits::{Allowance, Exhausted, JUDGED, JUDGED_A_NODE, STEPS};
use crate::oracle::rule::Candidates;

/// What is known of irregular tags.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    inferred: inferred::Tables,
    sized: sized::Tables,
    irregular: Vec<Irregular>,
    allowance: Allowance,
}

impl Default for Tables {
    fn default() -> Self {
        let (inferred, sized, irregular) = Default::default();
        Tables { inferred, sized, irregular, allowance: Allowance::new(JUDGED, JUDGED_A_NODE) }
    }
}

#[derive(Clone, Debug)]
enum Irregular {
    Inferred(inferred::Crossings),
    Sized(sized::Bytes),
}

/// Why a tag is neither regular nor irregular.
enum Aside {
    /// It may alias everything.
    Rejected,
    /// It took more steps to judge than there were.
    Limited,
    /// The definition decides.
    Unindexed,
}

impl From<Exhausted> for Aside {
    fn from(_: Exhausted) -> Self {
        Aside::Limited
    }
}

impl Engine {
    /// Adds the graph's next tag to the index. Returns whether it was judged with
    /// as many steps as the definition has.
    pub(super) fn add(
        &mut self,
        graph: &Graph,
        index: &mut Index,
        tag: TagId,
        strict: bool,
    ) -> bool {
        self.types.extend(graph);
        let Ok(access) = self.resolve(graph, tag.into()) else {
            index.push_rejected();
            return true;
        };
        // All else under its root lies in an object of the root.
        let of_access = self.types.get(access.access);
        if of_access.format.is_none() && access.is_whole() {
            index.push_rejected();
            return true;
        }
        // Tags of two formats under one root may alias, as those of two roots.
        let format = self.format(&access);
        let root = 2 * of_access.root + u32::from(format == Format::New);
        match self.place(index, graph, &access, strict) {
            Err(Aside::Rejected) => index.push_rejected(),
            Err(Aside::Limited) => {
                index.push_rejected();
                return !self.tables.allowance.is_short(graph.node_count(), STEPS);
            }
            Err(Aside::Unindexed) => index.push_unindexed(root),
            Ok((cursor, None)) => index.push_regular(root, cursor),
            Ok((cursor, Some(irregular))) => {
                self.tables.irregular.push(irregular);
                index.push_irregular(root, cursor);
            }
        }
        true
    }

    /// Returns a tag's cursor, and what else is to be known of an irregular tag.
    fn place(
        &mut self,
        index: &mut Index,
        graph: &Graph,
        access: &Resolved,
        strict: bool,
    ) -> Result<(u32, Option<Irregular>), Aside> {
        let types = &self.types;
        if types.get(access.access).format.is_none() {
            return Err(Aside::Unindexed);
        }
        if is_regular(types, access)
            && let Some(cursor) = walk(types, index, (access.base, access.offset), access)
        {
            return Ok((cursor, None));
        }
        let format = self.format(access);
        let Tables { inferred, sized, allowance, .. } = &mut self.tables;
        allowance.within(graph.node_count(), STEPS, |budget| match format {
            Format::Old => {
                let (cursor, found) =
                    inferred.add(types, index, graph, (access, strict), budget)?;
                Ok((cursor, Some(Irregular::Inferred(found))))
            }
            Format::New => {
                let (cursor, found) = sized.add(types, index, graph, access, budget)?;
                Ok((cursor, Some(Irregular::Sized(found))))
            }
        })
    }

    /// Decides on two tags of one root and format, of which one is irregular;
    /// `None` leaves it to the definition.
    pub(super) fn decide_indexed(
        &self,
        graph: &Graph,
        index: &Index,
        (a, b): (TagId, TagId),
        strict: bool,
    ) -> Option<bool> {
        let classes = [a, b].map(|tag| index.class(tag.index()));
        if a == b {
            return Some(true);
        }
        let irregular = |class: Class| match class {
            Class::Irregular(_, _, number) => Some(&self.tables.irregular[number as usize]),
            _ => None,
        };
        let cursor = |class: Class| match class {
            Class::Regular(_, cursor) | Class::Irregular(_, cursor, _) => Some(cursor),
            Class::Rejected | Class::Unindexed(_) => None,
        };
        let cursors = (cursor(classes[0])?, cursor(classes[1])?);
        match classes.map(irregular) {
            [Some(Irregular::Sized(_)), _] | [_, Some(Irregular::Sized(_))] => {
                let side = |tag, cursor, class| {
                    let bytes = match irregular(class) {
                        Some(Irregular::Sized(bytes)) => Some(*bytes),
                        _ => None,
                    };
                    sized::Side { tag, cursor, bytes }
                };
                let sides = (&side(a, cursors.0, classes[0]), &side(b, cursors.1, classes[1]));
                let resolve = |tag: TagId| self.resolve(graph, tag.into()).ok();
                self.tables.sized.may_alias(&self.types, index, sides, strict, resolve)
            }
            crossings => {
                let [x, y] = crossings.map(|irregular| match irregular {
                    Some(Irregular::Inferred(crossings)) => Some(crossings),
                    _ => None,
                });
                let sides = ((cursors.0, x), (cursors.1, y));
                Some(self.tables.inferred.may_alias(&self.types, index, sides, strict))
            }
        }
    }

    /// Says which tags an irregular one may alias at most.
    pub(super) fn candidates(&self, index: &Index, tag: TagId) -> Option<Candidates> {
        let Class::Irregular(_, cursor, number) = index.class(tag.index()) else { return None };
        let bases = match &self.tables.irregular[number as usize] {
            Irregular::Inferred(crossings) => {
                self.tables.inferred.candidates(index, cursor, crossings)
            }
            Irregular::Sized(bytes) => self.tables.sized.candidates(*bytes),
        };
        Some(Candidates { bases, base: index.ty(cursor) })
    }
}

/// Whether a tag is regular if its walk is clear: it accesses a scalar, and no
/// byte beside.
fn is_regular(types: &Types, access: &Resolved) -> bool {
    let scalar = types.get(access.access);
    let within = match access.size {
        _ if scalar.format == Some(Format::Old) => true,
        Some(size) => u128::from(size) <= scalar.far,
        // It goes on to the end of the field, and past that within an array.
        None => !types.get(access.base).arrays,
    };
    scalar.scalar && scalar.plain && within
}

/// Returns the place after one on a clear walk, `Some(None)` after a root;
/// `None` where the walk is not clear or the offset leads nowhere.
fn next(types: &Types, ty: TypeIndex, offset: u64) -> Option<Option<(TypeIndex, u64)>> {
    let of_type = types.get(ty);
    if of_type.format.is_none() {
        return Some(None);
    }
    if of_type.scalar {
        let parent = types.parent(ty).filter(|_| of_type.plain && offset == 0)?;
        return Some(Some((parent, 0)));
    }
    let fields = types.fields(ty);
    let started = fields.partition_point(|field| field.offset <= offset);
    // A class without data holds no path.
    let field = fields[..started].iter().rfind(|field| types.get(field.ty).format.is_some())?;
    field.clear.then_some(Some((field.ty, offset - field.offset)))
}

/// Returns the cursor at the start of a clear walk to a root, the walk added.
fn add_walk(types: &Types, index: &mut Index, start: (TypeIndex, u64)) -> Option<u32> {
    index.add_walk(start, usize::MAX, |ty, offset| next(types, ty, offset))
}

/// Returns the cursor of a place from which a clear walk leads to what is
/// accessed.
fn walk(
    types: &Types,
    index: &mut Index,
    start: (TypeIndex, u64),
    access: &Resolved,
) -> Option<u32> {
    let end = add_walk(types, index, (access.access, 0))?;
    let cursor = add_walk(types, index, start)?;
    let forest = &index.forest;
    let is_aggregate = |cursor| {
        let ty = types.get(index.ty(cursor));
        !ty.scalar && ty.format.is_some()
    };
    let arrives = match types.get(access.access).format {
        // Whatever a scalar is, its ancestors are.
        Some(Format::Old) => true,
        _ if is_aggregate(cursor) => forest.parent(forest.climb(cursor, is_aggregate)) == Some(end),
        _ => cursor == end,
    };
    (arrives && forest.is_ancestor(end, cursor)).then_some(cursor)
}

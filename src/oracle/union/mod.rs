//! Rules `union` and `union-strict`: they consider every member of a union and compare bytes.
//!
//! # Theory
//!
//! Two accesses may alias iff one of these holds: their tags are equal; their roots or formats
//! differ; one accesses a whole object whose type is the other's access type or an ancestor of it;
//! one has no path or extends past its base type; or they *overlap*. They overlap if a path q leads
//! from the base type of one (the *outer*) to an object of the other (the *inner*), and the bytes
//! of a path p of the outer meet those of a path r of the inner, shifted by q. This module decides
//! overlap without listing all paths, elements or bytes.
//!
//! **Representation of a path.** The bytes of a path are an interval with a fixed start, which is
//! repeated at the strides of the arrays that the path crosses, and cut at the end of the base type
//! (see [`extent`](crate::extent)). The order of strides does not matter.
//!
//! **Merging.** The traversals (`denoted`, `objects`) visit types in topological order: a type is
//! visited after all paths to it are known. Paths to the same type and offset merge: a path is
//! dropped if its strides are a subset of another's, whose bytes then include its own. So the cost
//! grows with the number of types, not of paths. Objects are only sought where bytes of p may be.
//!
//! **Comparison.** Two byte patterns share a byte iff an equation has an integer solution. `stride`
//! decides this by division, by Euclid's algorithm, and by trials for more than two strides.
//!
//! **Strict.** For `union-strict`, p and q must choose the same field of a type that both pass,
//! unless the two fields share no byte.
//!
//! **Old format.** Types have no sizes, so paths are compared in another way: see `inferred`.
//!
//! # Two stages
//!
//! The paths of a tag depend only on the tag, and are computed on first use. Their comparison
//! depends only on the two accesses. Neither depends on the rest of the graph, so clones and graphs
//! that grew give the same answers.
//!
//! # Limits
//!
//! Each stage has a budget of steps (`limits`), which all its loops use. The depth of recursion
//! does not depend on the types. Beyond a limit, the answer is `MayAlias`.

mod access;
mod arena;
mod bytes;
mod clear;
mod definition;
mod denoted;
mod generic;
mod inferred;
mod objects;
mod stride;
mod traversal;

use std::borrow::Cow;
use std::sync::OnceLock;

use access::Resolved;
use definition::{Denotation, UnionDefinition};

use super::clause::Clause;
use super::index::{Index, Role};
use super::limits::Exhausted;
use super::rule::{Candidates, Decision, Indexed, Rule};
use super::types::TypeIndex;
use crate::access::Access;
use crate::extent::Size;
use crate::graph::{Format, Graph, Tag, TagId};

/// Rule `union` or `union-strict`. A tag's *walk* leads from its base type to a scalar and on to
/// the scalar's ancestors. The walk is *clear* if no other fields overlap the fields on it.
#[derive(Clone, Debug)]
pub(super) struct Union {
    strict: bool,
    /// The facts about each tag that is neither *regular* (its walk is clear, and it touches only
    /// the scalar) nor *rejected* (it may alias everything).
    others: Vec<Other>,
    /// For each tag, the largest size of an access that touches only the scalar. 0 if the walk is
    /// not clear, or the tag is rejected or has the old format.
    rooms: Vec<u32>,
}

/// The facts about a tag that is neither regular nor rejected.
#[derive(Clone, Debug)]
struct Other {
    own: Resolved,
    /// True if an access of the tag's own size extends past the base type.
    leaves: bool,
    /// The start of the tag's walk, if only the tag's size prevents it from being regular.
    cursor: Option<u32>,
    /// The paths of the tag, computed on first use. `None` if there are none, or if the search
    /// reached its limit.
    denotation: OnceLock<Option<Denotation>>,
}

impl Union {
    pub(super) fn new(strict: bool) -> Self {
        Union { strict, others: Vec::new(), rooms: Vec::new() }
    }

    /// Reads an access by the stored facts about its tag, or returns why nothing is known about it.
    fn resolve(&self, of: Indexed<'_>, access: Access) -> Result<Resolved, Clause> {
        let Indexed { graph, index } = of;
        let tag = access.tag.filter(|&tag| graph.owns_tag(tag));
        let of_index = tag.and_then(|tag| match index.role(tag.index) {
            Role::Rejected => None,
            Role::Other(_, number) => Some(self.others[number as usize].own),
            Role::Regular(_, cursor) => Resolved::regular(graph, index, (tag, cursor)),
        });
        match of_index {
            None => Resolved::new(&index.types, graph, access),
            Some(own) => Ok(Resolved { size: access.given().or(own.size), ..own }),
        }
    }

    /// Returns the paths of a tag in `others`, or `None` if none are found or no steps are left.
    fn denotation(
        &self,
        index: &Index,
        (tag, number): (TagId, u32),
        left: &mut u64,
    ) -> Option<&Denotation> {
        let Other { own, leaves, denotation: known, .. } = &self.others[number as usize];
        if known.get().is_none() && *left == 0 {
            return None;
        }
        let find = || {
            let (found, steps) = Denotation::new(&index.types, own);
            *left = left.saturating_sub(steps.into());
            let found = found.ok()?.map(Denotation::kept);
            if found.is_some() && !leaves {
                index.set_base(tag.index, own.base);
            }
            found
        };
        known.get_or_init(find).as_ref()
    }

    /// Returns the paths of an access, or `None` if its tag is regular. Fails if no path is found.
    fn paths(
        &self,
        index: &Index,
        (tag, access): (Option<TagId>, &Resolved),
    ) -> Result<Option<Cow<'_, Denotation>>, Clause> {
        let tag = tag.ok_or(Clause::NoTag)?;
        let number = match index.role(tag.index) {
            Role::Rejected => return Err(Clause::Malformed),
            Role::Regular(..) => return Ok(None),
            Role::Other(_, number) => number,
        };
        match self.denotation(index, (tag, number), &mut { u64::MAX }) {
            None | Some(Denotation::Large) => match Denotation::new(&index.types, access).0 {
                Ok(Some(found)) => Ok(Some(Cow::Owned(found))),
                Ok(None) => Err(Clause::Malformed),
                Err(Exhausted) => Err(Clause::Limit),
            },
            Some(found) => Ok(Some(Cow::Borrowed(found))),
        }
    }

    /// Returns the root of an access and the start (cursor) of its walk, if the walk is clear and
    /// the access touches only the scalar.
    fn cursor(&self, index: &Index, access: Access) -> Option<(u32, u32)> {
        let tag = access.tag?.index;
        let room = u64::from(self.rooms[tag as usize]);
        let within = |size: Size| size.known().is_some_and(|size| size <= room);
        match index.role(tag) {
            Role::Regular(root, cursor) if access.size.is_none_or(within) => Some((root, cursor)),
            Role::Other(root, number) if access.size.is_some_and(within) => {
                Some((root, self.others[number as usize].cursor?))
            }
            _ => None,
        }
    }

    /// Returns the base type of an access and related facts, if its tag is not rejected.
    fn start(&self, index: &Index, access: Access) -> Option<Start> {
        let (root, own) = match index.role(access.tag?.index) {
            Role::Rejected => return None,
            Role::Regular(root, cursor) => {
                let (base, offset) = (index.walks.ty(cursor), index.walks.offset(cursor));
                (root, Resolved { base, access: base, offset, size: None })
            }
            Role::Other(root, number) => (root, self.others[number as usize].own),
        };
        let access = Resolved { size: access.given().or(own.size), ..own };
        Some(Start { root, base: own.base, leaves: access.leaves(&index.types) })
    }
}

struct Start {
    root: u32,
    base: TypeIndex,
    leaves: bool,
}

impl Rule for Union {
    fn add(&mut self, graph: &Graph, index: &mut Index, tag: TagId) {
        index.types.extend(graph);
        let Ok(access) = Resolved::new(&index.types, graph, tag.into()) else {
            self.rooms.push(0);
            return index.push_rejected();
        };
        let base = access.base;
        let cursor = clear::cursor(index, &access);
        let types = &index.types;
        let of_access = types.get(access.access);
        // An object of a root may contain any type under it. Without arrays, a clear walk is the
        // only path from a type and offset. If it misses the access type, the tag has no path.
        let of_root = of_access.format.is_none() && access.is_whole();
        let rejected = of_root || cursor == Some(None) && !types.get(base).arrays;
        let cursor = cursor.flatten().filter(|_| !rejected);
        self.rooms.push(cursor.map_or(0, |_| clear::room(types, &access)));
        if rejected {
            return index.push_rejected();
        }
        // Tags of different formats under one root may alias, like tags of different roots.
        let root = 2 * of_access.root + u32::from(access.format(types) == Format::New);
        match cursor.filter(|_| clear::is_within(types, &access)) {
            Some(cursor) => index.push_regular(root, cursor, Some(base)),
            None => {
                let denotation = OnceLock::new();
                let leaves = access.leaves(types);
                self.others.push(Other { own: access, leaves, cursor, denotation });
                index.push_other(root);
            }
        }
    }

    fn candidates(&self, index: &Index, tag: TagId, left: &mut u64) -> Candidates {
        match (self.start(index, tag.into()), index.role(tag.index)) {
            (None | Some(Start { leaves: true, .. }), _) => Candidates::Everything,
            (Some(_), Role::Other(_, number))
                if self.denotation(index, (tag, number), left).is_none() =>
            {
                Candidates::Everything
            }
            (Some(start), _) => Candidates::Base(start.base),
        }
    }

    fn by_cursor(&self, index: &Index, (a, b): (Access, Access)) -> Option<bool> {
        let (x, y) = (self.cursor(index, a)?, self.cursor(index, b)?);
        Some(x.0 != y.0 || index.walks.forest.related(x.1, y.1))
    }

    fn by_base(&self, index: &Index, (a, b): (Access, Access), left: &mut u64) -> Option<bool> {
        let (Some(x), Some(y)) = (self.start(index, a), self.start(index, b)) else {
            return Some(true);
        };
        if a.tag == b.tag || x.root != y.root || x.leaves || y.leaves {
            return Some(true);
        }
        if !index.types.are_apart(x.base, y.base) {
            return None;
        }
        let mut denotes = |access: Access| {
            access.tag.is_some_and(|tag| match index.role(tag.index) {
                Role::Other(_, number) => self.denotation(index, (tag, number), left).is_some(),
                _ => true,
            })
        };
        let may = !(denotes(a) && denotes(b));
        // If no steps are left, the search for a tag's paths may not have run.
        (!may || *left > 0).then_some(may)
    }

    fn decide(&self, of: Indexed<'_>, (a, b): (Access, Access), why: bool) -> Decision {
        let resolve = |access| self.resolve(of, access);
        let (of_a, of_b) = match (resolve(a), resolve(b)) {
            (Ok(of_a), Ok(of_b)) => (of_a, of_b),
            // A missing tag is reported in preference to a malformed one.
            (Err(a), Err(b)) => return a.min(b).into(),
            (Err(clause), _) | (_, Err(clause)) => return clause.into(),
        };
        if a.tag == b.tag {
            return Clause::SameTag.into();
        }
        let (types, strict) = (&of.index.types, self.strict);
        let definition = UnionDefinition { types, explained: why, strict };
        if let Some(clause) = definition.by_tags(&of_a, &of_b) {
            return clause.into();
        }
        let paths = |access: Access, of_access| self.paths(of.index, (access.tag, of_access));
        match (paths(a, &of_a), paths(b, &of_b)) {
            (Ok(in_a), Ok(in_b)) => {
                definition.by_paths(((of_a, in_a.as_deref()), (of_b, in_b.as_deref())))
            }
            (Err(clause), _) | (_, Err(clause)) => clause.into(),
        }
    }

    fn most_generic(&self, of: Indexed<'_>, a: TagId, b: TagId) -> Option<Tag> {
        let Indexed { graph, index } = of;
        // A malformed tag may alias everything, and so must the merged access, which gets no tag.
        let access = |tag: TagId| {
            let access = Resolved::new(&index.types, graph, tag.into()).ok()?;
            self.paths(index, (Some(tag), &access)).ok()?;
            Some(access)
        };
        generic::most_generic(&index.types, graph, [(a, access(a)?), (b, access(b)?)])
    }

    fn is_well_formed(&self, of: Indexed<'_>, tag: TagId, left: &mut u64) -> Option<bool> {
        let Indexed { graph, index } = of;
        let Ok(access) = Resolved::new(&index.types, graph, tag.into()) else { return Some(false) };
        match index.role(tag.index) {
            Role::Regular(..) => Some(true),
            Role::Other(_, number) if self.denotation(index, (tag, number), left).is_some() => {
                Some(true)
            }
            _ if *left == 0 => None,
            _ => {
                let (found, steps) = Denotation::new(&index.types, &access);
                *left = left.saturating_sub(steps.into());
                Some(found.ok()?.is_some())
            }
        }
    }
}

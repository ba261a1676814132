//! Size-aware irregular tags: those that come to their bytes by several ways,
//! or access an aggregate, or more or less than one scalar.
//!
//! The bytes of such a tag are found out once, and the objects in its base type
//! once for all tags with this base. Two accesses may alias iff one covers the
//! other as a whole access to an ancestor, or one's base lies in the other's
//! such that bytes meet:
//!
//! - in an irregular tag's base, at any place that is listed;
//! - in a regular tag's base, only where that tag's walk comes to it, for there
//!   is no other way to the regular tag's bytes.

use std::borrow::Cow;

use super::super::access::Resolved;
use super::super::arena::Link;
use super::super::denoted::{Denoted, Untracked, denoted};
use super::super::stride::{Pattern, Stride, UNBOUNDED, add_stride, meets, span};
use super::super::traversal::{Pending, Way};
use super::super::types::{TypeIndex, Types, elements, slot_of};
use super::Aside;
use crate::graph::{Graph, TagId};
use crate::oracle::index::Index;
use crate::oracle::inside::{self, Inside};
use crate::oracle::limits::{Budget, Exhausted, STEPS};
use crate::table::{HashSet, IndexSet};

/// Patterns of one access: two such sets are compared pattern by pattern, here
/// as in the definition.
const PATTERNS: usize = 1 << 5;

#[derive(Clone, Default, Debug)]
pub(super) struct Tables {
    patterns: Vec<Pattern>,
    /// The objects in each base type, and in it itself.
    objects: Inside<Place>,
    /// The arrays around objects, each list once; the first is empty.
    arrays: IndexSet<Vec<Stride>>,
}

/// Where the patterns of a tag's bytes stand in [`Tables::patterns`], from the
/// start of its base type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes {
    first: u32,
    count: u32,
}

/// Where an object lies.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Bytes from the start of the outer type; [`ANYWHERE`] if not known.
    at: u32,
    /// Number of the arrays around it, twice; plus 1 if the object is of a
    /// descendant of the type, not of the type itself.
    arrays: u32,
}

/// The offset of an object that may lie anywhere.
const ANYWHERE: u32 = u32::MAX;

/// One of two tags to compare.
pub(super) struct Side {
    pub(super) tag: TagId,
    pub(super) cursor: u32,
    /// Those of an irregular tag.
    pub(super) bytes: Option<Bytes>,
}

impl Tables {
    /// Returns the cursor of an irregular tag, and its bytes.
    pub(super) fn add(
        &mut self,
        types: &Types,
        index: &mut Index,
        graph: &Graph,
        access: &Resolved,
    ) -> Result<(u32, Bytes), Aside> {
        let mut budget = Budget::new(STEPS);
        let found = patterns(types, access, &mut budget)?.ok_or(Aside::Rejected)?;
        // An object whose access reaches past it touches what no list says.
        let far = types.get(access.base).far;
        if found.len() > PATTERNS || found.iter().any(|pattern| pattern.end() > far) {
            return Err(Aside::Unindexed);
        }
        let Tables { objects, arrays, .. } = self;
        let search = |limit| {
            let listed = list_objects(types, arrays, access.base, limit);
            listed.or_else(|| list_types(types, access.base, limit))
        };
        if !objects.add(access.base, graph.node_count(), search) {
            return Err(Aside::Unindexed);
        }
        let bytes = Bytes { first: self.patterns.len() as u32, count: found.len() as u32 };
        self.patterns.extend(found);
        Ok((index.routed(access.base, 0, None), bytes))
    }

    /// Decides on two tags; `None` leaves it to the definition.
    pub(super) fn may_alias(
        &self,
        types: &Types,
        index: &Index,
        (a, b): (&Side, &Side),
        strict: bool,
        resolve: impl Fn(TagId) -> Option<Resolved>,
    ) -> Option<bool> {
        let budget = &mut Budget::new(STEPS);
        for (outer, inner) in [(a, b), (b, a)] {
            let (base, inner_base) = (index.ty(outer.cursor), index.ty(inner.cursor));
            if outer.bytes.is_some() {
                let places = inside::of_type(self.objects.list(base)?, inner_base);
                if places.is_empty() {
                    continue;
                }
                let (of_outer, of_inner) = (resolve(outer.tag)?, resolve(inner.tag)?);
                if of_inner.is_whole() && types.is_ancestor(of_inner.access, of_outer.access) {
                    return Some(true);
                }
                let [ours, theirs] = [(outer, &of_outer), (inner, &of_inner)]
                    .map(|(side, access)| self.bytes(types, side, access, budget));
                if self.meet_at(
                    places,
                    &ours.ok()?,
                    (&theirs.ok()?, of_inner.is_whole()),
                    budget,
                )? {
                    // Whether the two part at a member is not known here.
                    let parts = strict && !of_outer.is_whole() && base != inner_base;
                    return (!parts).then_some(true);
                }
            } else {
                let rank = Some(|ty| types.get(ty).rank);
                let Some(at) = index.find_on_walk(outer.cursor, inner_base, rank) else { continue };
                let (of_outer, of_inner) = (resolve(outer.tag)?, resolve(inner.tag)?);
                let from_there =
                    Resolved { base: inner_base, offset: index.offset(at), ..of_outer };
                let ours = bytes_of(types, &from_there, budget).ok()?;
                let theirs = self.bytes(types, inner, &of_inner, budget).ok()?;
                if any_meet(&ours, &theirs, (0, &[]), budget).ok()? {
                    return Some(true);
                }
            }
        }
        Some(false)
    }

    /// Returns a tag's bytes.
    fn bytes(
        &self,
        types: &Types,
        side: &Side,
        access: &Resolved,
        budget: &mut Budget,
    ) -> Result<Cow<'_, [Pattern]>, Exhausted> {
        match side.bytes {
            Some(Bytes { first, count }) => {
                Ok(Cow::Borrowed(&self.patterns[first as usize..(first + count) as usize]))
            }
            None => bytes_of(types, access, budget).map(Cow::Owned),
        }
    }

    /// Returns whether `ours` meet `theirs`, which are of an object at one of
    /// some places; `None` if that is not known.
    fn meet_at(
        &self,
        places: &[(u32, Place)],
        ours: &[Pattern],
        (theirs, whole): (&[Pattern], bool),
        budget: &mut Budget,
    ) -> Option<bool> {
        let (Some((from, to)), Some((start, end))) = (hull(ours), hull(theirs)) else {
            return Some(false);
        };
        for &(_, Place { at, arrays }) in places {
            if at == ANYWHERE {
                return None;
            }
            if arrays % 2 == 1 && !whole {
                continue;
            }
            let (at, arrays) = (u128::from(at), &self.arrays[arrays as usize / 2]);
            let near = at + start < to && from < at + span(arrays) + end;
            if near && any_meet(ours, theirs, (at, arrays), budget).ok()? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Returns the base types of which objects lie in a type.
    pub(super) fn candidates(&self, base: TypeIndex) -> Option<Vec<TypeIndex>> {
        Some(inside::types(self.objects.list(base)?).collect())
    }
}

/// Returns the bytes of an access, from the start of its base type; `None` if
/// it denotes no path.
fn patterns(
    types: &Types,
    access: &Resolved,
    budget: &mut Budget,
) -> Result<Option<Vec<Pattern>>, Exhausted> {
    let found = denoted(types, access, &Untracked, &mut Default::default(), budget)?;
    let bytes = |path: Denoted| path.bytes;
    Ok((!found.is_empty()).then(|| found.into_iter().filter_map(bytes).collect()))
}

/// The same for the access of a regular tag, seen from its base type or from a
/// type on its way.
fn bytes_of(
    types: &Types,
    access: &Resolved,
    budget: &mut Budget,
) -> Result<Vec<Pattern>, Exhausted> {
    match access.size {
        Some(size) if !types.get(access.base).arrays => {
            let (start, len) = (access.offset.into(), size.into());
            Ok(vec![Pattern { start, len, strides: Vec::new() }])
        }
        _ => Ok(patterns(types, access, budget)?.unwrap_or_default()),
    }
}

fn any_meet(
    ours: &[Pattern],
    theirs: &[Pattern],
    (by, moved): (u128, &[Stride]),
    budget: &mut Budget,
) -> Result<bool, Exhausted> {
    for a in ours {
        for b in theirs {
            budget.spend()?;
            if meets(a, b, by, moved, budget)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The first byte of some patterns, and the end of the last.
fn hull(bytes: &[Pattern]) -> Option<(u128, u128)> {
    let start = bytes.iter().map(|pattern| pattern.start).min()?;
    Some((start, bytes.iter().map(Pattern::end).max()?))
}

/// Lists the objects in a type: the type itself, and each object of a type or
/// seen as one of an ancestor.
fn list_objects(
    types: &Types,
    arrays: &mut IndexSet<Vec<Stride>>,
    outer: TypeIndex,
    limit: usize,
) -> Option<Vec<(TypeIndex, Place)>> {
    arrays.insert(Vec::new());
    let (mut found, mut steps) = (Vec::new(), 0);
    let mut pending = Pending::<(u128, u64)>::new();
    let link = Link::START;
    let way = |outer| Way { outer, link, prefix_link: link };
    pending.add(types, outer, (UNBOUNDED, 0), way(Vec::new()));
    while let Some((ty, places)) = pending.pop() {
        for ((slot, at), ways) in places {
            for Way { outer, .. } in ways {
                let place = u32::try_from(at).ok().filter(|&at| at != ANYWHERE)?;
                let number = arrays.insert_full(outer.clone()).0 as u32;
                let memory = |&up: &TypeIndex| types.get(up).format.is_some();
                found.extend(types.ancestors(ty).filter(memory).map(|object| {
                    let arrays = 2 * number + u32::from(object != ty);
                    (object, Place { at: place, arrays })
                }));
                for field in types.fields(ty) {
                    let array = elements(types, field, slot);
                    let mut outer = outer.clone();
                    array.into_iter().for_each(|array| add_stride(&mut outer, array.stride));
                    let slot = slot_of(types, field, array);
                    let at = at.checked_add(field.offset)?;
                    steps += 1 + pending.add(types, field.ty, (slot, at), way(outer));
                }
                if found.len() > limit || steps > 8 * limit {
                    return None;
                }
            }
        }
    }
    Some(found)
}

/// Lists the types of the objects in a type, where they are too many to say
/// where they lie.
fn list_types(types: &Types, outer: TypeIndex, limit: usize) -> Option<Vec<(TypeIndex, Place)>> {
    let (mut found, mut seen, mut open) = (Vec::new(), HashSet::from([outer]), vec![outer]);
    while let Some(ty) = open.pop() {
        found.push((ty, Place { at: ANYWHERE, arrays: 0 }));
        if found.len() > limit {
            return None;
        }
        let inside = types.fields(ty).iter().map(|field| field.ty);
        open.extend(inside.chain(types.parent(ty)).filter(|&ty| seen.insert(ty)));
    }
    Some(found)
}

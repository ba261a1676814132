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
use super::clear::Aside;
use crate::graph::{Graph, TagId};
use crate::oracle::index::Index;
use crate::oracle::inside::{self, Inside};
use crate::oracle::limits::{Budget, Exhausted, STEPS};
use crate::oracle::type_set::LargeTypeSet;
use tbaa_lex::table::IndexSet;

/// Patterns of one access: two such sets are compared pattern by pattern, here
/// as in the definition.
const PATTERNS: usize = 1 << 5;

/// Objects in a base type beyond which only those near an access are listed.
const OBJECTS: u32 = 1 << 12;

#[derive(Clone, Default, Debug)]
pub(super) struct SizedTables {
    patterns: Vec<Pattern>,
    /// The objects in a base type, and it itself: all, or where they are too many
    /// those that may hold one of some bytes, beside the type that is accessed.
    objects: Inside<(TypeIndex, Option<(Bounds, TypeIndex)>), ObjectPlace>,
    /// The arrays around objects, each list once; the first is empty.
    arrays: IndexSet<Vec<Stride>>,
}

/// Where the patterns of a tag's bytes stand in [`SizedTables::patterns`], from the
/// start of its base type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes {
    first: u32,
    count: u32,
    /// The list of the objects in the base type.
    objects: u32,
}

/// The first of some bytes, and past the last.
type Bounds = (u128, u128);

/// Where an object lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ObjectPlace {
    /// Bytes from the start of the outer type, times 2^16; plus the number of the
    /// arrays around it.
    packed: u64,
    /// Whether the object is of the type itself, not of a descendant.
    direct: bool,
}

impl ObjectPlace {
    /// Somewhere in the outer type.
    const ANYWHERE: ObjectPlace = ObjectPlace { packed: u64::MAX, direct: true };

    fn new(at: u64, arrays: usize, direct: bool) -> ObjectPlace {
        match (at >> 47, u16::try_from(arrays)) {
            (0, Ok(arrays)) => ObjectPlace { packed: at << 16 | u64::from(arrays), direct },
            _ => ObjectPlace::ANYWHERE,
        }
    }

    fn at(self) -> u128 {
        (self.packed >> 16).into()
    }

    fn arrays(self) -> usize {
        self.packed as u16 as usize
    }
}

/// One of two tags to compare.
pub(super) struct SizedTag {
    pub(super) tag: TagId,
    pub(super) cursor: u32,
    /// Those of an irregular tag.
    pub(super) bytes: Option<Bytes>,
}

impl SizedTables {
    /// Returns the cursor of an irregular tag, and its bytes.
    pub(super) fn add(
        &mut self,
        types: &Types,
        index: &mut Index,
        graph: &Graph,
        access: &Resolved,
        budget: &mut Budget,
    ) -> Result<(u32, Bytes), Aside> {
        let found = patterns(types, access, budget)?.ok_or(Aside::Rejected)?;
        // An object whose access reaches past it touches what no list says.
        let far = types.get(access.base).far;
        if found.len() > PATTERNS || found.iter().any(|pattern| pattern.end() > far) {
            return Err(Aside::Unindexed);
        }
        let SizedTables { objects, arrays, .. } = self;
        let (base, nodes) = (access.base, graph.node_count());
        let mut add = |near: Option<(Bounds, TypeIndex)>| {
            let search = |budget: &mut Budget| {
                let bounds = near.map(|(bounds, _)| bounds);
                let mut found = list_objects(types, arrays, (base, bounds), budget)?;
                // A whole access to what is accessed meets it, also where it has no
                // byte and so no object is near.
                let accessed = types.ancestors(access.access).filter(|_| near.is_some());
                let accessed = accessed.filter(|&up| types.get(up).format.is_some());
                found.extend(accessed.map(|up| (up, ObjectPlace::new(0, 0, false))));
                Ok(found)
            };
            objects.add((base, near), nodes, search)
        };
        let all = if types.get(base).objects <= OBJECTS { add(None) } else { None };
        let objects = all.or_else(|| add(Some((hull(&found).unwrap_or_default(), access.access))));
        let objects = objects.ok_or(Aside::Unindexed)?;
        let (first, count) = (self.patterns.len() as u32, found.len() as u32);
        let bytes = Bytes { first, count, objects };
        self.patterns.extend(found);
        Ok((index.routed(access.base, 0, None), bytes))
    }

    pub(super) fn was_short(&self) -> bool {
        self.objects.was_short()
    }

    /// Decides on two tags; `None` leaves it to the definition.
    pub(super) fn may_alias(
        &self,
        types: &Types,
        index: &Index,
        (a, b): (&SizedTag, &SizedTag),
        strict: bool,
        resolve: impl Fn(TagId) -> Option<Resolved>,
    ) -> Option<bool> {
        let budget = &mut Budget::new(STEPS);
        for (outer, inner) in [(a, b), (b, a)] {
            let (base, inner_base) = (index.ty(outer.cursor), index.ty(inner.cursor));
            if let Some(bytes) = outer.bytes {
                let places = self.objects.of_type(bytes.objects, inner_base);
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
        side: &SizedTag,
        access: &Resolved,
        budget: &mut Budget,
    ) -> Result<Cow<'_, [Pattern]>, Exhausted> {
        match side.bytes {
            Some(Bytes { first, count, .. }) => {
                Ok(Cow::Borrowed(&self.patterns[first as usize..(first + count) as usize]))
            }
            None => bytes_of(types, access, budget).map(Cow::Owned),
        }
    }

    /// Returns whether `ours` meet `theirs`, which are of an object at one of
    /// some places; `None` if that is not known.
    fn meet_at(
        &self,
        places: &[(u32, ObjectPlace)],
        ours: &[Pattern],
        (theirs, whole): (&[Pattern], bool),
        budget: &mut Budget,
    ) -> Option<bool> {
        let (Some((from, to)), Some((start, end))) = (hull(ours), hull(theirs)) else {
            return Some(false);
        };
        for &(_, place) in places {
            if place == ObjectPlace::ANYWHERE {
                return None;
            }
            if !place.direct && !whole {
                continue;
            }
            let (at, arrays) = (place.at(), &self.arrays[place.arrays()]);
            let near = at + start < to && from < at + span(arrays) + end;
            if near && any_meet(ours, theirs, (at, arrays), budget).ok()? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Returns a set of the base types of tags that an irregular tag may alias.
    pub(super) fn bases(&self, bytes: Bytes) -> LargeTypeSet {
        self.objects.types(bytes.objects)
    }

    /// Returns the base types of tags that an irregular tag may alias.
    pub(super) fn candidates(&self, bytes: Bytes) -> Vec<TypeIndex> {
        inside::types(self.objects.list(bytes.objects)).collect()
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

/// Lists the objects in a type that may hold one of some bytes: the type itself,
/// and each object of a type or seen as one of an ancestor.
fn list_objects(
    types: &Types,
    arrays: &mut IndexSet<Vec<Stride>>,
    (outer, bounds): (TypeIndex, Option<Bounds>),
    budget: &mut Budget,
) -> Result<Vec<(TypeIndex, ObjectPlace)>, Exhausted> {
    let mut found = Vec::new();
    let mut pending = Pending::<(u128, u64)>::new();
    let link = Link::START;
    let way = |outer| Way { outer, link, prefix_link: link };
    pending.add(types, outer, (UNBOUNDED, 0), way(Vec::new()));
    while let Some((ty, places)) = pending.pop() {
        for ((slot, at), ways) in places {
            for Way { outer, .. } in ways {
                let number = arrays.insert_full(outer.clone()).0;
                for object in types.ancestors(ty).filter(|&up| types.get(up).format.is_some()) {
                    budget.spend()?;
                    found.push((object, ObjectPlace::new(at, number, object == ty)));
                }
                for field in types.fields(ty) {
                    budget.spend()?;
                    let at = at.checked_add(field.offset).ok_or(Exhausted)?;
                    let array = elements(types, field, slot);
                    let mut outer = outer.clone();
                    array.into_iter().for_each(|array| add_stride(&mut outer, array.stride));
                    let end = u128::from(at) + span(&outer) + types.get(field.ty).far;
                    if bounds.is_some_and(|(from, to)| u128::from(at) >= to || end <= from) {
                        continue;
                    }
                    let slot = slot_of(types, field, array);
                    for _ in 0..pending.add(types, field.ty, (slot, at), way(outer)) {
                        budget.spend()?;
                    }
                }
            }
        }
    }
    Ok(found)
}

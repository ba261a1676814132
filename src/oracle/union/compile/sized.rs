//! Size-aware tags whose walk passes a type with overlapping fields, that
//! access an aggregate, or more or less than one scalar.
//!
//! The walk of such a tag is plain as far as its *frame*: the first type on it
//! that is not plain, or the type accessed. Nothing outside the frame holds a
//! byte of the access. So two accesses may alias in two ways only:
//!
//! - both come to one frame by one way, which is a chain of cursors from the
//!   base to the frame's start, and share a byte there;
//! - the other's base lies in this one's frame, at some place near the bytes
//!   accessed. Those places are listed once for each frame and set of bytes.
//!
//! An access whose walk breaks off takes its base for its frame.

use std::ops::Range;

use super::super::denoted::{Denoted, Untracked, denoted, is_folded};
use super::super::flood::{Pending, Resolved, Way, elements, reach, slot_of};
use super::super::limits::{Budget, Exhausted, STEPS};
use super::super::stride::{Pattern, Stride, UNBOUNDED, add_stride, meets, span};
use super::super::trail::{Link, Trail};
use super::super::types::{TypeIndex, Types};
use super::{Aside, lay, next};
use crate::graph::{Graph, TagId};
use crate::oracle::compiled::Compiled;
use crate::oracle::filter::Filter;
use crate::table::{HashMap, HashSet, IndexMap, IndexSet};

/// Places near the bytes of one access.
const PLACES: usize = 1 << 14;

/// Places for each node of the graph, on average.
const SHARE: usize = 16;

/// Types that may be on the ways to an access.
const PASSED: usize = 1 << 8;

/// Patterns of one access: two such sets are compared pattern by pattern, here
/// as in the search.
const PATTERNS: usize = 1 << 5;

#[derive(Clone, Default, Debug)]
pub(super) struct Tables {
    /// The bytes of accesses, each set once.
    sets: IndexSet<Vec<Pattern>>,
    /// Each frame and set of bytes, numbered; `None` where the places near are
    /// too many.
    groups: HashMap<(TypeIndex, u32), Option<Group>>,
    /// The fewest bytes in a frame that had too many places near.
    crowded: HashMap<TypeIndex, u128>,
    /// The types in a frame.
    inside: HashMap<TypeIndex, Filter>,
    /// For a base and an access type, the types that may be on a way from the
    /// one to the other, and their ancestors. `None` where they are too many.
    passed: IndexMap<(TypeIndex, TypeIndex), Option<Vec<TypeIndex>>>,
    /// Where the objects of a type begin in `places`, and how many there are.
    near: HashMap<(u32, TypeIndex), (u32, u32)>,
    places: Vec<Place>,
}

/// The number of a frame and set of bytes, and the types near.
type Group = (u32, Filter);

/// A place of an object, from the start of the frame.
#[derive(Clone, Debug)]
struct Place {
    at: u64,
    strides: Vec<Stride>,
    /// Whether the object is of the type itself, and not of a descendant.
    direct: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Wide {
    frame: TypeIndex,
    /// Whether the frame is plain.
    plain: bool,
    /// The way from the base to the frame's start.
    way: u32,
    group: u32,
    access: TypeIndex,
    whole: bool,
    /// The set of bytes, from the frame's start.
    within: u32,
    /// The set of bytes, from the base's start.
    bytes: u32,
    /// The position in [`Tables::passed`].
    passed: u32,
}

impl Wide {
    /// The frame, if other tags may pass it without one of their own.
    pub(super) fn plain_frame(&self) -> Option<TypeIndex> {
        self.plain.then_some(self.frame)
    }
}

/// One of two tags to compare.
pub(super) struct Side<'s> {
    pub(super) tag: TagId,
    pub(super) base: TypeIndex,
    pub(super) cursor: u32,
    pub(super) wide: Option<&'s Wide>,
}

impl Tables {
    pub(super) fn add(
        &mut self,
        types: &Types,
        compiled: &mut Compiled,
        graph: &Graph,
        access: &Resolved,
    ) -> Result<(u32, Option<Wide>, Filter), Aside> {
        let mut budget = Budget::new(STEPS);
        let found = denoted(types, access, &Untracked, &mut Trail::default(), &mut budget)?;
        if found.is_empty() {
            return Err(Aside::Rejected);
        }
        let bytes = patterns(&found);
        let scalar = types.get(access.base).scalar;
        let own = scalar.then(|| lay(types, compiled, (access.base, 0)).ok_or(Aside::Ask));
        let own = own.transpose()?;
        let mut path = Vec::new();
        let framed = frame(types, access, &mut path, &mut budget)?;
        let (inner, within) = framed.unwrap_or_else(|| {
            path.clear();
            (*access, bytes.clone())
        });
        let start = compiled.routed(inner.base, 0, None);
        let way = path.iter().rev().fold(start, |next, &(ty, offset)| {
            compiled.routed(ty, offset - inner.offset, Some(next))
        });
        if !fits(types, inner.base, &within) {
            return Ok((own.unwrap_or(way), None, Filter::ALL));
        }
        let (frame, of) = (inner.base, access.access);
        let plain = types.get(frame).plain;
        let few = bytes.len() <= PATTERNS && within.len() <= PATTERNS;
        let set = self.sets.insert_full(within).0 as u32;
        let group = few.then(|| self.group(types, graph, frame, set)).flatten();
        let Some((group, mut filter)) = group else {
            // A walk may come through a plain frame at any offset.
            let mut filter = if plain { Filter::ALL } else { self.inside(types, frame) };
            compiled.types_from(way).for_each(|ty| filter.add(ty));
            return Ok((own.unwrap_or(way), None, filter));
        };
        compiled.types_from(way).for_each(|ty| filter.add(ty));
        let (within, bytes) = (set, self.sets.insert_full(bytes).0 as u32);
        let passed = self.passed(types, access);
        let whole = access.is_whole();
        let wide = Wide { frame, plain, way, group, within, bytes, passed, access: of, whole };
        Ok((own.unwrap_or(way), Some(wide), filter))
    }

    /// Returns the number of a frame and set of bytes, the places near listed.
    fn group(&mut self, types: &Types, graph: &Graph, frame: TypeIndex, set: u32) -> Option<Group> {
        if let Some(&known) = self.groups.get(&(frame, set)) {
            return known;
        }
        let number = self.groups.len() as u32;
        let found = self.near(types, graph, frame, set);
        let known = found.as_ref().map(|found| {
            let mut filter = Filter::default();
            found.iter().for_each(|&(ty, _)| filter.add(ty));
            (number, filter)
        });
        self.groups.insert((frame, set), known);
        let mut found = found?;
        found.sort_by_key(|&(ty, _)| ty);
        for objects in found.chunk_by(|a, b| a.0 == b.0) {
            let first = self.places.len() as u32;
            self.places.extend(objects.iter().map(|(_, place)| place.clone()));
            self.near.insert((number, objects[0].0), (first, objects.len() as u32));
        }
        known
    }

    /// Lists the objects in a frame near a set of bytes; `None` where they are
    /// too many, or were for fewer bytes.
    fn near(
        &mut self,
        types: &Types,
        graph: &Graph,
        frame: TypeIndex,
        set: u32,
    ) -> Option<Vec<(TypeIndex, Place)>> {
        let bytes = &self.sets[set as usize];
        let hull = hull(bytes).unwrap_or(0..0);
        let crowded = self.crowded.entry(frame).or_insert(u128::MAX);
        let width = hull.end - hull.start;
        if width >= *crowded {
            return None;
        }
        let room = (PLACES + SHARE * graph.node_count()).saturating_sub(self.places.len());
        let found = near(types, frame, hull, room.min(PLACES));
        if found.is_none() && room >= PLACES {
            *crowded = width;
        }
        found
    }

    /// Returns the types in a frame, and their ancestors.
    fn inside(&mut self, types: &Types, frame: TypeIndex) -> Filter {
        *self.inside.entry(frame).or_insert_with(|| {
            let (mut filter, mut seen, mut open) =
                (Filter::default(), HashSet::from([frame]), vec![frame]);
            while let Some(ty) = open.pop() {
                filter.add(ty);
                let inside = types.fields(ty).iter().map(|field| field.ty);
                let next = inside.chain(types.parent(ty)).filter(|&ty| seen.insert(ty));
                open.extend(next);
            }
            filter
        })
    }

    /// Returns the position in [`Tables::passed`] of what an access passes.
    fn passed(&mut self, types: &Types, access: &Resolved) -> u32 {
        let entry = self.passed.entry((access.base, access.access));
        let position = entry.index() as u32;
        entry.or_insert_with(|| passed(types, access));
        position
    }

    fn set(&self, set: u32) -> &[Pattern] {
        &self.sets[set as usize]
    }

    /// Decides on two tags; `None` leaves it to the search.
    pub(super) fn may_alias(
        &self,
        types: &Types,
        compiled: &Compiled,
        (a, b): (&Side<'_>, &Side<'_>),
        strict: bool,
        resolve: impl Fn(TagId) -> Option<Resolved>,
    ) -> Option<bool> {
        let budget = &mut Budget::new(STEPS);
        if let (Some(x), Some(y)) = (a.wide, b.wide) {
            if x.access == y.access && (x.whole || y.whole) {
                return Some(true);
            }
            if x.frame == y.frame
                && compiled.forest.related(x.way, y.way)
                && any_meet(self.set(x.within), self.set(y.within), (0, &[]), budget).ok()?
            {
                return Some(true);
            }
        }
        for (outer, inner) in [(a, b), (b, a)] {
            let Some(wide) = outer.wide else { continue };
            if let Some(&at) = self.near.get(&(wide.group, inner.base)) {
                let access = resolve(inner.tag)?;
                if self.holds(types, (wide, at), (inner.wide, &access), budget).ok()? {
                    match (strict, &self.passed[wide.passed as usize]) {
                        (false, _) => return Some(true),
                        // All of an object is accessed, by no member's name.
                        _ if wide.whole && wide.frame == wide.access => return Some(true),
                        (true, Some(passed)) if passed.binary_search(&inner.base).is_err() => {}
                        (true, _) => return None,
                    }
                }
            }
            if wide.plain && passes(types, compiled, inner, wide.frame) {
                // All of the object is accessed that the other's walk comes
                // through.
                let all = outer.base == wide.frame && self.is_all(types, wide);
                let access = resolve(inner.tag)?;
                let some = inner.wide.is_none() && access.size.is_some_and(|size| size > 0);
                return (all && some).then_some(true);
            }
        }
        Some(false)
    }

    /// Whether a tag accesses all bytes of its frame.
    fn is_all(&self, types: &Types, wide: &Wide) -> bool {
        match self.set(wide.within) {
            [bytes] => {
                bytes.start == 0
                    && bytes.strides.is_empty()
                    && bytes.len >= types.get(wide.frame).far
            }
            _ => false,
        }
    }

    /// Returns whether the bytes of a wide tag meet those of `inner` at some of
    /// the places near.
    fn holds(
        &self,
        types: &Types,
        (wide, (first, count)): (&Wide, (u32, u32)),
        (inner, access): (Option<&Wide>, &Resolved),
        budget: &mut Budget,
    ) -> Result<bool, Exhausted> {
        let found;
        let theirs = match (inner, access.size) {
            (Some(wide), _) => self.set(wide.bytes),
            (None, Some(size)) if !types.get(access.base).arrays => {
                let (start, len) = (access.offset.into(), size.into());
                found = vec![Pattern { start, len, strides: Vec::new() }];
                &found
            }
            _ => {
                let trail = &mut Trail::default();
                found = patterns(&denoted(types, access, &Untracked, trail, budget)?);
                &found
            }
        };
        for place in &self.places[first as usize..(first + count) as usize] {
            if (place.direct || access.is_whole())
                && any_meet(
                    self.set(wide.within),
                    theirs,
                    (place.at.into(), &place.strides),
                    budget,
                )?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn patterns(found: &[Denoted]) -> Vec<Pattern> {
    found.iter().filter_map(|path| path.bytes.clone()).collect()
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

/// Finds the frame of an access: the access seen from there, and its bytes;
/// the types on the way, and the offsets into them. `None` where it is the
/// base.
fn frame(
    types: &Types,
    access: &Resolved,
    path: &mut Vec<(TypeIndex, u64)>,
    budget: &mut Budget,
) -> Result<Option<(Resolved, Vec<Pattern>)>, Exhausted> {
    let mut at = (access.base, access.offset);
    while at.0 != access.access && types.get(at.0).plain {
        path.push(at);
        match next(types, at).flatten() {
            Some(next) if !types.get(at.0).scalar => at = next,
            _ => return Ok(None),
        }
    }
    let inner = Resolved { base: at.0, offset: at.1, ..*access };
    // Without a size, the bytes depend on the field that the type is in, and
    // so does the end of a flexible array.
    if path.is_empty()
        || inner.size.is_none()
        || types.get(inner.base).flexible
        || inner.is_whole() && inner.offset != 0
        || !is_folded(types, &inner, budget)?
    {
        return Ok(None);
    }
    let within = patterns(&denoted(types, &inner, &Untracked, &mut Trail::default(), budget)?);
    Ok(fits(types, inner.base, &within).then_some((inner, within)))
}

/// Whether the bytes lie in the part of a type that its fields may reach.
fn fits(types: &Types, ty: TypeIndex, bytes: &[Pattern]) -> bool {
    bytes.iter().all(|pattern| pattern.end() <= types.get(ty).far)
}

/// The first byte of some patterns, and the end of the last.
fn hull(bytes: &[Pattern]) -> Option<Range<u128>> {
    let start = bytes.iter().map(|pattern| pattern.start).min()?;
    Some(start..bytes.iter().map(Pattern::end).max()?)
}

/// Lists the objects in a frame that may hold a byte of a range.
fn near(
    types: &Types,
    frame: TypeIndex,
    bytes: Range<u128>,
    limit: usize,
) -> Option<Vec<(TypeIndex, Place)>> {
    let mut found = Vec::new();
    if bytes.is_empty() {
        return Some(found);
    }
    let mut steps = 0;
    let mut pending = Pending::<(u128, u64)>::new();
    let link = Link::START;
    let way = |outer| Way { outer, link, prefix_link: link };
    pending.add(types, frame, (UNBOUNDED, 0), way(Vec::new()));
    while let Some((ty, places)) = pending.pop() {
        for ((slot, at), ways) in places {
            for Way { outer, .. } in ways {
                for object in types.ancestors(ty).filter(|&up| types.get(up).format.is_some()) {
                    let direct = object == ty;
                    found.push((object, Place { at, strides: outer.clone(), direct }));
                }
                if found.len() > limit {
                    return None;
                }
                let so_far = span(&outer);
                for field in types.fields(ty) {
                    steps += 1;
                    if steps > 8 * limit {
                        return None;
                    }
                    let at = at.checked_add(field.offset)?;
                    let array = elements(types, field, slot);
                    let far = so_far + array.map_or(0, |array| span(&[array.stride]));
                    let end = u128::from(at) + far + types.get(field.ty).far;
                    if u128::from(at) >= bytes.end || end <= bytes.start {
                        continue;
                    }
                    let mut outer = outer.clone();
                    array.into_iter().for_each(|array| add_stride(&mut outer, array.stride));
                    let slot = slot_of(types, field, array);
                    steps += pending.add(types, field.ty, (slot, at), way(outer));
                }
            }
        }
    }
    Some(found)
}

/// Lists the types that may be on a way to an access, and their ancestors.
fn passed(types: &Types, access: &Resolved) -> Option<Vec<TypeIndex>> {
    // Inside an aggregate that is accessed, q goes on.
    if !types.get(access.access).scalar {
        return None;
    }
    let budget = &mut Budget::new(8 * PASSED as u32);
    let on_way = reach(types, access.base, |ty| ty == access.access, budget).ok()?;
    let mut passed = Vec::new();
    for &ty in on_way.keys() {
        passed.extend(types.ancestors(ty));
        if passed.len() > PASSED {
            return None;
        }
    }
    passed.sort_unstable();
    passed.dedup();
    Some(passed)
}

/// Returns whether the plain part of a tag's walk comes to type `ty` behind
/// its base.
fn passes(types: &Types, compiled: &Compiled, side: &Side<'_>, ty: TypeIndex) -> bool {
    let rank = |cursor| types.get(compiled.ty(cursor)).rank;
    let start = side.wide.map_or(side.cursor, |wide| wide.way);
    if side.base == ty || side.wide.is_some_and(|wide| wide.frame == ty) {
        return false;
    }
    let wanted = types.get(ty).rank;
    rank(start) >= wanted
        && compiled.ty(compiled.forest.climb(start, |cursor| rank(cursor) >= wanted)) == ty
}

//! Size-aware irregular tags: those that come to their bytes by several ways,
//! or access an aggregate, or more or less than one scalar.
//!
//! The bytes of such a tag are found out once, and the objects in its base type
//! once for all tags with this base. Two accesses may alias iff one covers the
//! other as a whole access to an ancestor, or one's base lies in the other's
//! such that bytes meet:
//!
//! - in an irregular tag's base, at any place that is listed. Where the list would be
//!   too long, the places near the tag's bytes are searched for each query;
//! - in a regular tag's base, only where that tag's walk comes to it, for there
//!   is no other way to the regular tag's bytes. An access that reaches past its own
//!   base type may meet them from elsewhere, so its places are searched, too;
//! - under `union-strict`, in an irregular tag's base, only on the ways to the tag's
//!   bytes, which are listed, and inside what it accesses.

use std::borrow::Cow;
use std::ops::Range;

use super::super::access::Resolved;
use super::super::arena::Link;
use super::super::denoted::{Denoted, Everywhere, Prefix, Untracked, denoted, on_clear_walk};
use super::super::stride::{Pattern, Stride, UNBOUNDED, add_stride, meets, span};
use super::super::traversal::{Pending, Way};
use super::super::types::{Field, TypeIndex, Types, elements, slot_of};
use super::clear::Aside;
use crate::graph::{Graph, TagId};
use crate::oracle::index::Index;
use crate::oracle::inside::{self, Inside};
use crate::oracle::limits::{Allowance, Budget, Exhausted, JUDGED, JUDGED_A_NODE, STEPS};
use crate::table::IndexSet;
use crate::type_set::LargeTypeSet;

/// Patterns of one access: two such sets are compared pattern by pattern, here
/// as in the definition.
const PATTERNS: usize = 1 << 5;

/// Objects in a base type beyond which only those near an access are listed.
const OBJECTS: u32 = 1 << 12;

/// Types that are passed on the ways to the bytes of one access; what passes more is
/// left to the definition.
const PASSED: usize = 1 << 10;

#[derive(Clone, Debug)]
pub(super) struct SizedTables {
    patterns: Vec<Pattern>,
    /// The objects in a base type, and it itself: all, or where they are too many
    /// those that may hold one of some bytes, beside the type that is accessed.
    objects: Inside<(TypeIndex, Option<(Bounds, TypeIndex)>), ObjectPlace>,
    /// The arrays around objects, each list once; the first is empty.
    arrays: IndexSet<Vec<Stride>>,
    /// What is passed on the ways to tags' bytes, under `union-strict`.
    passed: Vec<Passed>,
    ways: Allowance,
}

/// What is known of an irregular tag.
#[derive(Clone, Debug)]
pub(super) struct Bytes {
    /// The patterns of its bytes in [`SizedTables::patterns`], from the start of its
    /// base type.
    patterns: Range<u32>,
    /// The list of the objects in the base type, and whether it has all of them;
    /// `None` where they are searched.
    objects: Option<(u32, bool)>,
    /// Whether its bytes reach past the base type.
    far: bool,
    /// Where the ways to its bytes stand in [`SizedTables::passed`]; `None` under rule
    /// `union`, of a whole tag, and where they are too many.
    passed: Option<Range<u32>>,
}

/// A type on the way to some bytes of a tag, the base type and the type accessed
/// included.
#[derive(Clone, Copy, Debug)]
struct Passed {
    ty: TypeIndex,
    /// The number of the bytes in [`SizedTables::patterns`].
    pattern: u32,
    place: ObjectPlace,
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
pub(super) struct SizedTag<'t> {
    pub(super) tag: TagId,
    pub(super) cursor: u32,
    /// Those of an irregular tag.
    pub(super) bytes: Option<&'t Bytes>,
}

/// Where objects of the one access lie in the base type of the other.
enum Places<'t> {
    Listed(&'t [(u32, ObjectPlace)]),
    /// At the other's offset from one object alone.
    Walked(u64),
    /// At some of these, and inside what is accessed.
    Passed(&'t [Passed]),
    /// Not known: they are searched.
    Anywhere,
}

impl SizedTables {
    pub(super) fn new() -> Self {
        let (patterns, objects, arrays, passed) = Default::default();
        let ways = Allowance::new(JUDGED, JUDGED_A_NODE);
        SizedTables { patterns, objects, arrays, passed, ways }
    }

    /// Returns the cursor of an irregular tag, and its bytes.
    pub(super) fn add(
        &mut self,
        types: &Types,
        index: &mut Index,
        graph: &Graph,
        (access, strict): (&Resolved, bool),
        budget: &mut Budget,
    ) -> Result<(u32, Bytes), Aside> {
        let found = patterns(types, access, budget)?.ok_or(Aside::Rejected)?;
        if found.len() > PATTERNS {
            return Err(Aside::Unindexed);
        }
        let end = types.get(access.base).far;
        let far = found.iter().any(|pattern| pattern.end() > end);
        let passed = (strict && !access.is_whole())
            .then(|| {
                let search = |budget: &mut Budget| {
                    denoted(types, access, &Everywhere, &mut Default::default(), budget)
                };
                self.ways.within(graph.node_count(), STEPS, search)
            })
            .and_then(|ways| self.pass(types, access, ways.ok()?));
        let objects = match passed {
            Some(_) => None,
            None => self.list(types, graph, access, &found),
        };
        let first = self.patterns.len() as u32;
        self.patterns.extend(found);
        let patterns = first..self.patterns.len() as u32;
        let bytes = Bytes { patterns, objects, far, passed };
        Ok((index.walks.routed(access.base, 0, None), bytes))
    }

    /// Returns the list of the objects in a tag's base type that may hold one of its
    /// bytes, and whether it has all objects; `None` if it is too long.
    fn list(
        &mut self,
        types: &Types,
        graph: &Graph,
        access: &Resolved,
        found: &[Pattern],
    ) -> Option<(u32, bool)> {
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
            Some((objects.add((base, near), nodes, search)?, near.is_none()))
        };
        let all = if types.get(base).objects <= OBJECTS { add(None) } else { None };
        all.or_else(|| add(Some((hull(found).unwrap_or_default(), access.access))))
    }

    /// Notes what is passed on the ways to the bytes of a tag; `None` if that is too
    /// much.
    fn pass(&mut self, types: &Types, access: &Resolved, ways: Vec<Denoted>) -> Option<Range<u32>> {
        // How much room an element of its own has is not noted.
        if ways.len() > PASSED || types.get(access.access).flexible {
            return None;
        }
        let first = self.passed.len();
        let own = self.patterns.len();
        for Denoted { bytes, end, prefix, .. } in ways {
            let Some(bytes) = bytes else { continue };
            let known = self.patterns[own..].iter().position(|known| *known == bytes);
            let pattern = own + known.unwrap_or(self.patterns.len() - own);
            if known.is_none() {
                self.patterns.push(bytes);
            }
            let Prefix { ty, at, strides } =
                prefix.map_or(Prefix { ty: access.access, ..end }, |(prefix, _)| prefix);
            let place = ObjectPlace::new(at, self.arrays.insert_full(strides).0, true);
            self.passed.push(Passed { ty, pattern: pattern as u32, place });
        }
        let noted = &self.passed[first..];
        if noted.iter().any(|passed| passed.place == ObjectPlace::ANYWHERE) {
            self.passed.truncate(first);
            return None;
        }
        Some(first as u32..self.passed.len() as u32)
    }

    pub(super) fn was_short(&self) -> bool {
        self.objects.was_short() || self.ways.was_short
    }

    /// Decides on two tags; `None` leaves it to the definition.
    pub(super) fn may_alias(
        &self,
        types: &Types,
        index: &Index,
        (a, b): (&SizedTag<'_>, &SizedTag<'_>),
        strict: bool,
        resolve: impl Fn(TagId) -> Option<Resolved>,
    ) -> Option<bool> {
        let budget = &mut Budget::new(STEPS);
        for (outer, inner) in [(a, b), (b, a)] {
            let (base, object) = (index.walks.ty(outer.cursor), index.walks.ty(inner.cursor));
            let places = self.places(types, index, (outer, inner), strict);
            let Some(places) = places else { continue };
            let (of_outer, of_inner) = (resolve(outer.tag)?, resolve(inner.tag)?);
            if of_inner.is_whole() && types.is_ancestor(of_inner.access, of_outer.access) {
                return Some(true);
            }
            let from_there = match places {
                Places::Walked(offset) => Resolved { base: object, offset, ..of_outer },
                _ => of_outer,
            };
            let ours = match (&places, outer.bytes) {
                (Places::Walked(_), _) | (_, None) => Cow::Owned(on_clear_walk(types, &from_there)),
                (_, Some(bytes)) => Cow::Borrowed(self.patterns(bytes)),
            };
            let theirs = match inner.bytes {
                Some(bytes) => Cow::Borrowed(self.patterns(bytes)),
                None => Cow::Owned(on_clear_walk(types, &of_inner)),
            };
            let (Some(of_ours), Some(of_theirs)) = (hull(&ours), hull(&theirs)) else { continue };
            let meeting = Meeting { types, object: of_inner, theirs: &theirs, of_theirs };
            // Of two ways that meet in a list it is not known whether they part.
            let parts = strict
                && !matches!(places, Places::Walked(_) | Places::Passed(_))
                && !of_outer.is_whole()
                && base != object;
            let met = match places {
                Places::Walked(_) => meeting.at(&ours, of_ours, (0, &[]), budget),
                Places::Listed(places) => {
                    self.meet_listed(&meeting, (&ours, of_ours), places, budget)
                }
                Places::Passed(passed) => {
                    self.meet_passed(&meeting, of_outer.access, passed, budget)
                }
                Places::Anywhere => meeting.search(&ours, of_ours, (base, 0, Vec::new()), budget),
            };
            if met.ok()? {
                return (!parts).then_some(true);
            }
        }
        Some(false)
    }

    /// Says where objects of the inner access may lie; `None` if nowhere.
    fn places<'t>(
        &'t self,
        types: &Types,
        index: &Index,
        (outer, inner): (&SizedTag<'t>, &SizedTag<'_>),
        strict: bool,
    ) -> Option<Places<'t>> {
        let (base, object) = (index.walks.ty(outer.cursor), index.walks.ty(inner.cursor));
        let far = inner.bytes.is_some_and(|bytes| bytes.far);
        let listed = |list| {
            let places = self.objects.of_type(list, object);
            (!places.is_empty()).then_some(Places::Listed(places))
        };
        match outer.bytes {
            Some(Bytes { passed: Some(passed), .. }) => {
                let passed = &self.passed[passed.start as usize..passed.end as usize];
                types.may_hold(base, object).then_some(Places::Passed(passed))
            }
            // No list has what reaches near from afar.
            Some(&Bytes { objects: Some((list, all)), .. }) if all || !far => listed(list),
            // Strictly, no other way counts, but other elements of an array on it.
            None if !far || strict && !types.get(base).arrays => {
                let rank = Some(|ty| types.get(ty).rank);
                let at = index.walks.find_on_walk(outer.cursor, object, rank)?;
                Some(Places::Walked(index.walks.offset(at)))
            }
            _ => types.may_hold(base, object).then_some(Places::Anywhere),
        }
    }

    fn patterns(&self, bytes: &Bytes) -> &[Pattern] {
        &self.patterns[bytes.patterns.start as usize..bytes.patterns.end as usize]
    }

    fn arrays(&self, place: ObjectPlace) -> &[Stride] {
        &self.arrays[place.arrays()]
    }

    /// Whether bytes meet at a listed place.
    fn meet_listed(
        &self,
        meeting: &Meeting<'_>,
        (ours, of_ours): (&[Pattern], Bounds),
        places: &[(u32, ObjectPlace)],
        budget: &mut Budget,
    ) -> Result<bool, Exhausted> {
        for &(_, place) in places {
            if place == ObjectPlace::ANYWHERE {
                return Err(Exhausted);
            }
            if (place.direct || meeting.object.is_whole())
                && meeting.at(ours, of_ours, (place.at(), self.arrays(place)), budget)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether bytes meet at an object on the way to them, or inside what is accessed.
    fn meet_passed(
        &self,
        meeting: &Meeting<'_>,
        access: TypeIndex,
        passed: &[Passed],
        budget: &mut Budget,
    ) -> Result<bool, Exhausted> {
        let Meeting { types, object, .. } = *meeting;
        let inside = types.may_hold(access, object.base);
        for &Passed { ty, pattern, place } in passed {
            let ours = std::slice::from_ref(&self.patterns[pattern as usize]);
            let (bounds, arrays) = ((ours[0].start, ours[0].end()), self.arrays(place));
            let met = if object.has_object(types, ty) {
                meeting.at(ours, bounds, (place.at(), arrays), budget)?
            } else {
                let at = (ty, place.packed >> 16, arrays.to_vec());
                ty == access && inside && meeting.search(ours, bounds, at, budget)?
            };
            if met {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns a set of the base types of tags that an irregular tag may alias.
    pub(super) fn bases(&self, types: &Types, base: TypeIndex, bytes: &Bytes) -> LargeTypeSet {
        match bytes.objects {
            _ if bytes.far => LargeTypeSet::ALL,
            Some((list, _)) => self.objects.types(list),
            None => types.get(base).inside,
        }
    }

    /// Returns the base types of tags that an irregular tag may alias; `None` if any.
    pub(super) fn candidates(&self, bytes: &Bytes) -> Option<Vec<TypeIndex>> {
        let (list, _) = bytes.objects.filter(|_| !bytes.far)?;
        Some(inside::types(self.objects.list(list)).collect())
    }
}

/// The bytes of an access, to compare with those of another in whose base type it lies.
struct Meeting<'m> {
    types: &'m Types,
    object: Resolved,
    theirs: &'m [Pattern],
    of_theirs: Bounds,
}

impl Meeting<'_> {
    /// Whether some bytes meet those of an object at one place.
    fn at(
        &self,
        ours: &[Pattern],
        of_ours: Bounds,
        (at, arrays): (u128, &[Stride]),
        budget: &mut Budget,
    ) -> Result<bool, Exhausted> {
        if !self.is_near(of_ours, at, span(arrays)) {
            return Ok(false);
        }
        for a in ours {
            for b in self.theirs {
                budget.spend()?;
                if meets(a, b, at, arrays, budget)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether some bytes may meet those of an object that lies from `at` on, so much
    /// farther at most.
    fn is_near(&self, (from, to): Bounds, at: u128, farther: u128) -> bool {
        at + self.of_theirs.0 < to && from < at + farther + self.of_theirs.1
    }

    /// Whether some bytes meet those of an object in a type, the type itself included.
    fn search(
        &self,
        ours: &[Pattern],
        of_ours: Bounds,
        start: (TypeIndex, u64, Vec<Stride>),
        budget: &mut Budget,
    ) -> Result<bool, Exhausted> {
        let leads = |field: &Field, at: u64, farther: u128| {
            let farther = farther + self.types.get(field.ty).far;
            self.types.may_hold(field.ty, self.object.base)
                && self.is_near(of_ours, at.into(), farther)
        };
        visit_objects(self.types, start, leads, budget, |ty, at, arrays, budget| {
            Ok(self.object.has_object(self.types, ty)
                && self.at(ours, of_ours, (at.into(), arrays), budget)?)
        })
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

/// The first byte of some patterns, and the end of the last.
fn hull(bytes: &[Pattern]) -> Option<Bounds> {
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
    let leads = |field: &Field, at: u64, farther: u128| {
        let end = u128::from(at) + farther + types.get(field.ty).far;
        bounds.is_none_or(|(from, to)| u128::from(at) < to && from < end)
    };
    let start = (outer, 0, Vec::new());
    visit_objects(types, start, leads, budget, |ty, at, outer, budget| {
        let number = arrays.insert_full(outer.to_vec()).0;
        for object in types.ancestors(ty).filter(|&up| types.get(up).format.is_some()) {
            budget.spend()?;
            found.push((object, ObjectPlace::new(at, number, object == ty)));
        }
        Ok(false)
    })?;
    Ok(found)
}

/// Visits the objects in a type, it itself first, which lies so many bytes from some
/// start and in some arrays. A field is followed if it `leads` to what is looked for, by
/// its offset from the start and how far the arrays around it reach. The visits end when
/// the visitor says that it is found; returns whether it was.
fn visit_objects(
    types: &Types,
    (ty, at, arrays): (TypeIndex, u64, Vec<Stride>),
    leads: impl Fn(&Field, u64, u128) -> bool,
    budget: &mut Budget,
    mut visit: impl FnMut(TypeIndex, u64, &[Stride], &mut Budget) -> Result<bool, Exhausted>,
) -> Result<bool, Exhausted> {
    let mut pending = Pending::<(u128, u64)>::new();
    let link = Link::START;
    let way = |outer| Way { outer, link, prefix_link: link };
    pending.add(types, ty, (UNBOUNDED, at), way(arrays));
    while let Some((ty, places)) = pending.pop() {
        for ((slot, at), ways) in places {
            for Way { outer, .. } in ways {
                if visit(ty, at, &outer, budget)? {
                    return Ok(true);
                }
                let so_far = span(&outer);
                for field in types.fields(ty) {
                    budget.spend()?;
                    let at = at.checked_add(field.offset).ok_or(Exhausted)?;
                    let array = elements(types, field, slot);
                    let farther = array.map_or(0, |array| span(&[array.stride]));
                    if !leads(field, at, so_far + farther) {
                        continue;
                    }
                    let mut outer = outer.clone();
                    array.into_iter().for_each(|array| add_stride(&mut outer, array.stride));
                    let slot = slot_of(types, field, array);
                    for _ in 0..pending.add(types, field.ty, (slot, at), way(outer)) {
                        budget.spend()?;
                    }
                }
            }
        }
    }
    Ok(false)
}

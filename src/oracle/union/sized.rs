//! The search where sizes and extents are known.
//!
//! Three floods, each of which visits a type only after everything that
//! contains it, so that whatever arrives at one place by different paths is
//! merged before it goes on:
//!
//! * [`denoted`]: the paths that a tag denotes, as byte patterns;
//! * the same with [`Tracked`] prefixes, for rule `union-strict`;
//! * [`Objects`]: the objects inside a type at which an access may start.

use std::collections::{BTreeMap, HashMap, HashSet};

use indexmap::IndexMap;

use super::limits::{Budget, Exhausted};
use super::stride::{Pattern, Stride, UNBOUNDED, add_stride, is_covered, meets, span};
use super::trail::{Link, Trail};
use super::types::{Field, TypeIndex, Types};

/// An access whose tag has been read and found sound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resolved {
    pub(crate) base: TypeIndex,
    pub(crate) access: TypeIndex,
    pub(crate) offset: u64,
    /// Bytes; `None` when unknown.
    pub(crate) size: Option<u64>,
}

impl Resolved {
    pub(crate) fn is_whole(&self) -> bool {
        self.base == self.access
    }

    /// Whether a path that ends at `ty` ends at an object of this access.
    pub(crate) fn has_object(&self, types: &Types, ty: TypeIndex) -> bool {
        ty == self.base || self.is_whole() && types.is_ancestor(self.base, ty)
    }
}

/// The elements of an array field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements {
    pub(crate) stride: Stride,
    /// Bytes of all elements together.
    pub(crate) extent: u128,
}

/// Returns the elements of a field of a type that occupies `slot` bytes;
/// `None` for a field that is no array.
pub(crate) fn elements(types: &Types, field: &Field, slot: u128) -> Option<Elements> {
    let size = u128::from(types.get(field.ty).size);
    if size == 0 || u128::from(field.extent) <= size && field.extent != 0 {
        return None;
    }
    let extent = match u128::from(field.extent) {
        // A flexible array without room in its slot must run past it.
        0 if slot == UNBOUNDED || slot <= u128::from(field.offset) => UNBOUNDED,
        0 => slot - u128::from(field.offset),
        extent => extent,
    };
    Some(Elements { stride: Stride { step: size, last: extent.div_ceil(size) - 1 }, extent })
}

/// Returns how many bytes the type of `field` has to itself, where a flexible
/// array in it asks.
fn slot_of(types: &Types, field: &Field, elements: Option<Elements>) -> u128 {
    match elements {
        _ if !types.get(field.ty).flexible => UNBOUNDED,
        Some(elements) => elements.stride.step,
        None => field.extent.into(),
    }
}

/// The farthest that a target lies below a type.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Reach {
    /// In bytes of collapsed offset.
    pub(crate) collapsed: u128,
    /// In bytes of displacement.
    displaced: u128,
}

/// Finds the types under `base` that contain a target or are one, in time
/// linear in the types under `base`.
pub(crate) fn reach(
    types: &Types,
    base: TypeIndex,
    is_target: impl Fn(TypeIndex) -> bool,
) -> HashMap<TypeIndex, Reach> {
    let mut seen = HashSet::from([base]);
    let mut below = vec![base];
    let mut next = 0;
    while let Some(&ty) = below.get(next) {
        next += 1;
        for field in types.fields(ty) {
            if seen.insert(field.ty) {
                below.push(field.ty);
            }
        }
    }
    below.sort_unstable_by_key(|&ty| types.get(ty).rank);
    let mut reach = HashMap::<TypeIndex, Reach>::new();
    for ty in below {
        let mut farthest = is_target(ty).then(Reach::default);
        for field in types.fields(ty) {
            let Some(inside) = reach.get(&field.ty) else { continue };
            let offset = u128::from(field.offset);
            let array =
                elements(types, field, UNBOUNDED).map_or(0, |elements| span(&[elements.stride]));
            let farthest = farthest.get_or_insert_default();
            farthest.collapsed = farthest.collapsed.max(offset + inside.collapsed);
            let displaced = (offset + array + inside.displaced).min(UNBOUNDED);
            farthest.displaced = farthest.displaced.max(displaced);
        }
        if let Some(farthest) = farthest {
            reach.insert(ty, farthest);
        }
    }
    reach
}

/// A place on the way, apart from the elements that lead there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Place {
    slot: u128,
    /// Collapsed offset; where no prefix is tracked, the same as `fixed`.
    at: u64,
    /// Displacement without the elements in `inner` and in the outer strides.
    fixed: u64,
    /// The innermost array, while its element is free.
    inner: Option<Stride>,
    /// Where the innermost array ends, in the terms of `fixed`.
    end: Option<u128>,
    prefix: Option<Prefix>,
}

/// Where q ends while p goes on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Prefix {
    pub(crate) at: u64,
    pub(crate) strides: Vec<Stride>,
}

/// One way to a place.
#[derive(Clone, Debug)]
struct Way {
    /// The arrays around the innermost one; in a displaced path all arrays.
    outer: Vec<Stride>,
    link: Link,
    prefix_link: Link,
}

/// The end of a denoted path.
#[derive(Clone, Debug)]
pub(crate) struct Denoted {
    /// The bytes, or some of them; `None` for an object of no size.
    pub(crate) bytes: Option<Pattern>,
    /// Collapsed offset and strides, for a q that goes on from here. Kept up
    /// only where prefixes are tracked.
    pub(crate) end: Prefix,
    pub(crate) slot: u128,
    pub(crate) link: Link,
    /// Where q ends on the way.
    pub(crate) prefix: Option<(Prefix, Link)>,
}

/// Which prefixes of a path to keep apart.
pub(crate) trait Tracked {
    /// Whether q may end at this type.
    fn ends_at(&self, ty: TypeIndex) -> bool;
    /// Whether anyone asks.
    const WANTED: bool;
}

/// No prefixes.
pub(crate) struct Untracked;

impl Tracked for Untracked {
    const WANTED: bool = false;
    fn ends_at(&self, _: TypeIndex) -> bool {
        false
    }
}

/// Those that end at an object of an access.
pub(crate) struct AtObjects<'t>(pub(crate) &'t Types, pub(crate) Resolved);

impl Tracked for AtObjects<'_> {
    const WANTED: bool = true;
    fn ends_at(&self, ty: TypeIndex) -> bool {
        self.1.has_object(self.0, ty)
    }
}

/// Places by type, those with the highest rank first, and at each place the
/// ways that no other way covers.
struct Pending<P> {
    by_rank: BTreeMap<u32, (TypeIndex, IndexMap<P, Vec<Way>>)>,
}

impl<P: Eq + std::hash::Hash> Pending<P> {
    fn new() -> Self {
        Pending { by_rank: BTreeMap::new() }
    }

    fn add(&mut self, types: &Types, ty: TypeIndex, place: P, way: Way) {
        let (_, places) =
            self.by_rank.entry(types.get(ty).rank).or_insert_with(|| (ty, IndexMap::new()));
        let ways = places.entry(place).or_default();
        if ways.iter().any(|other| is_covered(&way.outer, &other.outer)) {
            return;
        }
        ways.retain(|other| !is_covered(&other.outer, &way.outer));
        ways.push(way);
    }

    fn pop(&mut self) -> Option<(TypeIndex, IndexMap<P, Vec<Way>>)> {
        self.by_rank.pop_last().map(|(_, entry)| entry)
    }
}

/// Returns the ends of the paths that an access denotes: those with its
/// collapsed offset, or if there are none, those with its displacement.
pub(crate) fn denoted<T: Tracked>(
    types: &Types,
    access: &Resolved,
    tracked: &T,
    trail: &mut Trail,
    budget: &mut Budget,
) -> Result<Vec<Denoted>, Exhausted> {
    if access.is_whole() {
        if access.offset != 0 {
            return Ok(Vec::new());
        }
        let len = access.size.unwrap_or(types.get(access.access).size);
        let pattern = Pattern { start: 0, len: len.into(), strides: Vec::new() };
        return Ok(vec![Denoted {
            bytes: (len != 0).then_some(pattern),
            end: Prefix { at: 0, strides: Vec::new() },
            slot: UNBOUNDED,
            link: Link::START,
            prefix: None,
        }]);
    }
    let reach = reach(types, access.base, |ty| ty == access.access);
    for folded in [true, false] {
        let mut walk =
            Walk { types, access, tracked, folded, reach: &reach, trail, found: IndexMap::new() };
        walk.run(budget)?;
        if !walk.found.is_empty() {
            return Ok(walk.found.into_values().collect());
        }
    }
    Ok(Vec::new())
}

/// The flood towards the end of a denoted path.
struct Walk<'w, T> {
    types: &'w Types,
    access: &'w Resolved,
    tracked: &'w T,
    /// Whether the offset leaves element indices out.
    folded: bool,
    reach: &'w HashMap<TypeIndex, Reach>,
    trail: &'w mut Trail,
    /// Of ends that differ in length alone, the longest.
    found: IndexMap<End, Denoted>,
}

/// What must differ for two ends of paths to be worth telling apart: what q
/// needs, if anyone asks, and where the bytes are.
type End = (Option<(Prefix, u128, Option<Prefix>)>, Option<(u128, Vec<Stride>)>);

impl<T: Tracked> Walk<'_, T> {
    fn run(&mut self, budget: &mut Budget) -> Result<(), Exhausted> {
        let start =
            Place { slot: UNBOUNDED, at: 0, fixed: 0, inner: None, end: None, prefix: None };
        let way = Way { outer: Vec::new(), link: Link::START, prefix_link: Link::START };
        let mut pending = Pending::new();
        if self.reach.contains_key(&self.access.base) {
            pending.add(self.types, self.access.base, start, way);
        }
        while let Some((ty, places)) = pending.pop() {
            for (place, ways) in places {
                for way in ways {
                    if place.prefix.is_none() && self.tracked.ends_at(ty) {
                        let prefix = Prefix { at: place.at, strides: all_strides(&place, &way) };
                        let place = Place { prefix: Some(prefix), ..place.clone() };
                        let way = Way { prefix_link: way.link, ..way.clone() };
                        self.step(ty, &place, &way, &mut pending, budget)?;
                    }
                    self.step(ty, &place, &way, &mut pending, budget)?;
                }
            }
        }
        Ok(())
    }

    /// Goes on into each field that may lead to the end.
    fn step(
        &mut self,
        ty: TypeIndex,
        place: &Place,
        way: &Way,
        pending: &mut Pending<Place>,
        budget: &mut Budget,
    ) -> Result<(), Exhausted> {
        let rest = self.access.offset - place.fixed;
        for (number, field) in self.types.fields(ty).iter().enumerate() {
            budget.spend()?;
            let Some(reach) = self.reach.get(&field.ty) else { continue };
            // Offsets ascend.
            let Some(inside) = rest.checked_sub(field.offset) else { break };
            let far = if self.folded { reach.collapsed } else { reach.displaced };
            let array = elements(self.types, field, place.slot);
            let (least, most, step) = match array {
                Some(Elements { stride: Stride { step, last }, .. }) if !self.folded => {
                    let least = u128::from(inside).saturating_sub(far).div_ceil(step);
                    (least, (u128::from(inside) / step).min(last), step as u64)
                }
                _ if u128::from(inside) > far => continue,
                _ => (0, 0, 0),
            };
            for element in least..=most {
                budget.spend()?;
                // No more than `inside`.
                let displacement = element as u64 * step;
                let begin = place.fixed + field.offset;
                let mut next = Place {
                    slot: slot_of(self.types, field, array),
                    fixed: begin + displacement,
                    at: begin + displacement,
                    ..place.clone()
                };
                let mut outer = way.outer.clone();
                if T::WANTED {
                    next.at = place.at.checked_add(field.offset).ok_or(Exhausted)?;
                }
                if let Some(Elements { stride, extent }) = array {
                    next.end = Some(u128::from(begin) + extent);
                    if self.folded {
                        next.inner.replace(stride).into_iter().for_each(|s| {
                            add_stride(&mut outer, s);
                        });
                    } else if T::WANTED {
                        add_stride(&mut outer, stride);
                    }
                }
                let link = self.trail.step(way.link, ty, number);
                let way = Way { outer, link, prefix_link: way.prefix_link };
                if field.ty != self.access.access {
                    pending.add(self.types, field.ty, next, way);
                } else if next.fixed == self.access.offset {
                    self.end(field, array, next, way);
                }
            }
        }
        Ok(())
    }

    /// Records a path that ends in `field`.
    fn end(&mut self, field: &Field, array: Option<Elements>, place: Place, way: Way) {
        let no_bytes = self.types.get(field.ty).size == 0;
        let len = match (self.access.size, array) {
            (Some(size), _) => size.into(),
            (None, _) if no_bytes => 0,
            (None, Some(_)) => UNBOUNDED,
            (None, None) => field.extent.into(),
        };
        let end = Prefix { at: place.at, strides: all_strides(&place, &way) };
        let mut patterns = patterns(&place, &way, len, self.folded).into_iter().map(Some).collect();
        if Vec::is_empty(&patterns) {
            patterns.push(None);
        }
        for bytes in patterns {
            let at = bytes.as_ref().map(|bytes| (bytes.start, bytes.strides.clone()));
            let track = T::WANTED.then(|| (end.clone(), place.slot, place.prefix.clone()));
            let denoted = Denoted {
                bytes,
                end: end.clone(),
                slot: place.slot,
                link: way.link,
                prefix: place.prefix.clone().map(|prefix| (prefix, way.prefix_link)),
            };
            let known = self.found.entry((track, at)).or_insert_with(|| denoted.clone());
            if denoted.len() > known.len() {
                *known = denoted;
            }
        }
    }
}

impl Denoted {
    fn len(&self) -> u128 {
        self.bytes.as_ref().map_or(0, |bytes| bytes.len)
    }
}

fn all_strides(place: &Place, way: &Way) -> Vec<Stride> {
    let mut strides = way.outer.clone();
    place.inner.into_iter().for_each(|stride| add_stride(&mut strides, stride));
    strides
}

/// The bytes of `len`-byte accesses at a place, cut at its array's end.
fn patterns(place: &Place, way: &Way, len: u128, folded: bool) -> Vec<Pattern> {
    let start = u128::from(place.fixed);
    let room = place.end.map_or(UNBOUNDED, |end| end.saturating_sub(start));
    if len == 0 || room == 0 {
        return Vec::new();
    }
    let Some(Stride { step, last }) = place.inner.filter(|_| folded) else {
        return vec![Pattern { start, len: len.min(room), strides: Vec::new() }];
    };
    let mut patterns = Vec::new();
    // Elements whose bytes all lie within the array; all of them where it has
    // no end.
    let uncut = if room >= UNBOUNDED {
        last + 1
    } else {
        room.checked_sub(len).map_or(0, |spare| (spare / step).min(last) + 1)
    };
    if uncut > 0 {
        let mut strides = way.outer.clone();
        add_stride(&mut strides, Stride { step, last: uncut - 1 });
        patterns.push(Pattern { start, len, strides });
    }
    // The first cut element covers the others.
    if uncut <= last && uncut * step < room {
        patterns.push(Pattern {
            start: start + uncut * step,
            len: room - uncut * step,
            strides: way.outer.clone(),
        });
    }
    patterns
}

/// Where a pair of accesses meets.
#[derive(Clone, Debug)]
pub(crate) struct Witness {
    pub(crate) p: Link,
    pub(crate) q: Link,
    /// Of `Denoted::link` of r, from the other access's base.
    pub(crate) r: Link,
    pub(crate) p_bytes: Pattern,
    /// From the start of p's base type, like p's.
    pub(crate) r_bytes: Pattern,
}

fn moved(bytes: &Pattern, q: &Prefix) -> Pattern {
    let mut strides = bytes.strides.clone();
    q.strides.iter().for_each(|&stride| add_stride(&mut strides, stride));
    Pattern { start: bytes.start + u128::from(q.at), len: bytes.len, strides }
}

/// The search for objects of `b` near the bytes of `a`.
pub(crate) struct Objects<'o> {
    pub(crate) types: &'o Types,
    pub(crate) b: Resolved,
    pub(crate) r: &'o [Denoted],
    pub(crate) reach: HashMap<TypeIndex, Reach>,
    /// The first pair of paths that was compared and found apart.
    pub(crate) apart: Option<Witness>,
    /// A comparison reached its limit.
    pub(crate) unsure: bool,
}

impl<'o> Objects<'o> {
    pub(crate) fn new(types: &'o Types, from: TypeIndex, b: Resolved, r: &'o [Denoted]) -> Self {
        let reach = reach(types, from, |ty| b.has_object(types, ty));
        Objects { types, b, r, reach, apart: None, unsure: false }
    }

    /// Compares the bytes of each p with those of each r moved by one q.
    pub(crate) fn compare(
        &mut self,
        p: &[Denoted],
        q: &Prefix,
        q_link: Link,
        budget: &mut Budget,
    ) -> Result<Option<Witness>, Exhausted> {
        for p in p {
            for r in self.r {
                budget.spend()?;
                let (Some(p_bytes), Some(r_bytes)) = (&p.bytes, &r.bytes) else { continue };
                let witness = || Witness {
                    p: p.link,
                    q: q_link,
                    r: r.link,
                    p_bytes: p_bytes.clone(),
                    r_bytes: moved(r_bytes, q),
                };
                match meets(p_bytes, r_bytes, q.at.into(), &q.strides) {
                    Ok(true) => return Ok(Some(witness())),
                    Ok(false) if self.apart.is_none() => self.apart = Some(witness()),
                    Ok(false) => {}
                    Err(Exhausted) => self.unsure = true,
                }
            }
        }
        Ok(None)
    }

    /// Visits each object from `ty` down, at `start` and in a slot of `slot`
    /// bytes, that may lie near the bytes of some p.
    pub(crate) fn search(
        &mut self,
        p: &[Denoted],
        (ty, slot): (TypeIndex, u128),
        start: (Prefix, Link),
        trail: &mut Trail,
        budget: &mut Budget,
    ) -> Result<Option<Witness>, Exhausted> {
        let (Some(near), Some(theirs)) = (hull(p), hull(self.r)) else { return Ok(None) };
        let mut pending = Pending::<(u128, u64)>::new();
        let (Prefix { at, strides }, link) = start;
        if self.reach.contains_key(&ty) {
            let way = Way { outer: strides, link, prefix_link: link };
            pending.add(self.types, ty, (slot, at), way);
        }
        while let Some((ty, places)) = pending.pop() {
            let is_object = self.b.has_object(self.types, ty);
            for ((slot, at), ways) in places {
                for way in ways {
                    if is_object {
                        let q = Prefix { at, strides: way.outer.clone() };
                        if let Some(witness) = self.compare(p, &q, way.link, budget)? {
                            return Ok(Some(witness));
                        }
                    }
                    let so_far = span(&way.outer);
                    for (number, field) in self.types.fields(ty).iter().enumerate() {
                        budget.spend()?;
                        let Some(reach) = self.reach.get(&field.ty) else { continue };
                        let at = at.checked_add(field.offset).ok_or(Exhausted)?;
                        let array = elements(self.types, field, slot);
                        let far = array.map_or(0, |array| span(&[array.stride])) + so_far;
                        let lowest = u128::from(at) + theirs.0;
                        let highest = u128::from(at) + far + reach.displaced + theirs.1;
                        if lowest >= near.1 || highest <= near.0 {
                            continue;
                        }
                        let mut outer = way.outer.clone();
                        array.into_iter().for_each(|array| add_stride(&mut outer, array.stride));
                        let link = trail.step(way.link, ty, number);
                        let next = Way { outer, link, prefix_link: link };
                        let slot = slot_of(self.types, field, array);
                        pending.add(self.types, field.ty, (slot, at), next);
                    }
                }
            }
        }
        Ok(None)
    }
}

/// The first byte and the end of the last, of all patterns.
fn hull(paths: &[Denoted]) -> Option<(u128, u128)> {
    let all = || paths.iter().filter_map(|path| path.bytes.as_ref());
    let from = all().map(|pattern| pattern.start).min()?;
    Some((from, all().map(Pattern::end).max()?))
}

//! The paths that a tag denotes, as byte patterns.
//!
//! For rule `union-strict` the same search carries along where q may have ended
//! on the way: [`Tracked`].

use super::access::Resolved;
use super::arena::{Link, PathArena};
use super::stride::{Pattern, Stride, UNBOUNDED, add_stride};
use super::traversal::{Pending, Reach, Way, reach};
use super::types::{Elements, Field, TypeIndex, Types, elements, slot_of};
use crate::oracle::limits::{Budget, Exhausted};
use crate::table::{HashMap, IndexMap};

/// A place on the way, apart from the elements that lead there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct PathPlace {
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
    /// The type at which it ends, or as which that is seen.
    pub(crate) ty: TypeIndex,
    pub(crate) at: u64,
    pub(crate) strides: Vec<Stride>,
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
    /// Whether q may end at this type, and as what it is seen there.
    fn ends_at(&self, ty: TypeIndex) -> Option<TypeIndex>;
    /// Whether anyone asks.
    const WANTED: bool;
}

/// No prefixes.
pub(crate) struct Untracked;

impl Tracked for Untracked {
    const WANTED: bool = false;
    fn ends_at(&self, _: TypeIndex) -> Option<TypeIndex> {
        None
    }
}

/// Those that end at an object of an access.
pub(crate) struct AtObjects<'t>(pub(crate) &'t Types, pub(crate) Resolved);

impl Tracked for AtObjects<'_> {
    const WANTED: bool = true;
    fn ends_at(&self, ty: TypeIndex) -> Option<TypeIndex> {
        self.1.has_object(self.0, ty).then_some(self.1.base)
    }
}

/// Those that end at each type.
pub(crate) struct Everywhere;

impl Tracked for Everywhere {
    const WANTED: bool = true;
    fn ends_at(&self, ty: TypeIndex) -> Option<TypeIndex> {
        Some(ty)
    }
}

/// Returns the ends of the paths that an access denotes: those with its
/// collapsed offset, or if there are none, those with its displacement.
pub(crate) fn denoted<T: Tracked>(
    types: &Types,
    access: &Resolved,
    tracked: &T,
    arena: &mut PathArena,
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
            end: Prefix { ty: access.access, at: 0, strides: Vec::new() },
            slot: UNBOUNDED,
            link: Link::START,
            prefix: None,
        }]);
    }
    let reach = reach(types, access.base, |ty| ty == access.access, budget)?;
    let mut found = Vec::new();
    for folded in [true, false] {
        if found.is_empty() {
            let found_here = IndexMap::default();
            let mut walk =
                Search { types, access, tracked, folded, reach: &reach, arena, found: found_here };
            walk.run(budget)?;
            found = walk.found.into_values().collect();
        }
    }
    Ok(found)
}

/// Returns the bytes of an access to which one path leads, by clear fields.
pub(crate) fn on_clear_walk(types: &Types, access: &Resolved) -> Vec<Pattern> {
    let (mut fixed, mut outer, mut inner, mut end) = (0, Vec::new(), None, None);
    let (mut ty, mut len) = (access.base, types.get(access.base).size.into());
    while ty != access.access {
        let Some(at) = types.field_at(ty, access.offset - fixed) else { return Vec::new() };
        let field = &types.fields(ty)[at];
        fixed += field.offset;
        (ty, len) = (field.ty, field.extent.into());
        if let Some(Elements { stride, extent }) = elements(types, field, UNBOUNDED) {
            (end, len) = (Some(u128::from(fixed) + extent), UNBOUNDED);
            inner.replace(stride).into_iter().for_each(|stride| add_stride(&mut outer, stride));
        }
    }
    patterns((fixed, inner, end), &outer, access.size.map_or(len, u128::from), true)
}

/// The search for the ends of a denoted path.
struct Search<'w, T> {
    types: &'w Types,
    access: &'w Resolved,
    tracked: &'w T,
    /// Whether the offset leaves element indices out.
    folded: bool,
    reach: &'w HashMap<TypeIndex, Reach>,
    arena: &'w mut PathArena,
    /// Of ends that differ in length alone, the longest.
    found: IndexMap<End, Denoted>,
}

/// What must differ for two ends of paths to be worth telling apart: what q
/// needs, if anyone asks, and where the bytes are.
type End = (Option<(Prefix, u128, Option<Prefix>)>, Option<(u128, Vec<Stride>)>);

impl<T: Tracked> Search<'_, T> {
    fn run(&mut self, budget: &mut Budget) -> Result<(), Exhausted> {
        let start =
            PathPlace { slot: UNBOUNDED, at: 0, fixed: 0, inner: None, end: None, prefix: None };
        let way = Way { outer: Vec::new(), link: Link::START, prefix_link: Link::START };
        let mut pending = Pending::new();
        if self.reach.contains_key(&self.access.base) {
            pending.add(self.types, self.access.base, start, way);
        }
        while let Some((ty, places)) = pending.pop() {
            for (place, ways) in places {
                for way in ways {
                    if place.prefix.is_none()
                        && let Some(seen_as) = self.tracked.ends_at(ty)
                    {
                        let strides = all_strides(&place, &way);
                        let prefix = Prefix { ty: seen_as, at: place.at, strides };
                        let place = PathPlace { prefix: Some(prefix), ..place.clone() };
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
        place: &PathPlace,
        way: &Way,
        pending: &mut Pending<PathPlace>,
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
                let mut next = PathPlace {
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
                let link = self.arena.step(way.link, ty, number);
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
    fn end(&mut self, field: &Field, array: Option<Elements>, place: PathPlace, way: Way) {
        let no_bytes = self.types.get(field.ty).size == 0;
        let len = match (self.access.size, array) {
            (Some(size), _) => size.into(),
            (None, _) if no_bytes => 0,
            (None, Some(_)) => UNBOUNDED,
            (None, None) => field.extent.into(),
        };
        let end = Prefix { ty: field.ty, at: place.at, strides: all_strides(&place, &way) };
        let of_inner = (place.fixed, place.inner, place.end);
        let patterns = patterns(of_inner, &way.outer, len, self.folded);
        let mut patterns = patterns.into_iter().map(Some).collect();
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

fn all_strides(place: &PathPlace, way: &Way) -> Vec<Stride> {
    let mut strides = way.outer.clone();
    place.inner.into_iter().for_each(|stride| add_stride(&mut strides, stride));
    strides
}

/// The bytes of `len`-byte accesses at a place, cut at the end of its innermost array.
fn patterns(
    (fixed, inner, end): (u64, Option<Stride>, Option<u128>),
    outer: &[Stride],
    len: u128,
    folded: bool,
) -> Vec<Pattern> {
    let start = u128::from(fixed);
    let room = end.map_or(UNBOUNDED, |end| end.saturating_sub(start));
    if len == 0 || room == 0 {
        return Vec::new();
    }
    let Some(Stride { step, last }) = inner.filter(|_| folded) else {
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
        let mut strides = outer.to_vec();
        add_stride(&mut strides, Stride { step, last: uncut - 1 });
        patterns.push(Pattern { start, len, strides });
    }
    // The first cut element covers the others.
    if uncut <= last && uncut * step < room {
        patterns.push(Pattern {
            start: start + uncut * step,
            len: room - uncut * step,
            strides: outer.to_vec(),
        });
    }
    patterns
}

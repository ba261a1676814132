//! Finds the paths of a size-aware tag: from its base type to its access type, at its offset.
//!
//! The *collapsed offset* of a path is its offset with all array indices 0. For rule
//! `union-strict`, p is a path of the tag, and q leads from the same base type to an object of
//! another access b. q begins like p, and this search also finds where q may leave p ([`Tracked`]).

use std::ops::Range;

use super::access::Resolved;
use super::arena::{Link, PathArena};
use super::stride::add_stride;
use super::traversal::{Pending, Way};
use crate::extent::{Size, UNBOUNDED};
use crate::oracle::limits::{Budget, Exhausted, STRICT_ELEMENTS};
use crate::oracle::types::{Field, Stride, TypeIndex, Types, elements, slot_of};

/// An object inside a base type, or one object for each element of the arrays in `strides`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Object {
    pub(super) ty: TypeIndex,
    /// The size of the field or array element that contains the object. It limits a flexible array.
    pub(super) slot: u128,
    /// The offset of the first of these objects from the start of the base type.
    pub(super) at: u64,
    pub(super) strides: Vec<Stride>,
}

/// The object at which the path q leaves the path p.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Left {
    pub(super) object: Object,
    pub(super) by: Leaving,
}

/// The way in which q leaves p at an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Leaving {
    /// q ends at the object.
    End,
    /// q continues by another field than p. The number is the index of p's field.
    Field(usize),
    /// The object is an array element or field that q takes, and p takes another element or field.
    /// For a comparison, the bytes of p are moved by `shift`.
    Element { shift: u64 },
}

/// The facts about a path p that rule `union-strict` needs.
#[derive(Clone, Debug)]
pub(super) struct Tracked {
    /// The object at which p ends. q may continue from there.
    pub(super) end: Object,
    /// The object at which q left p, if it did so before p's end, and the path up to there.
    pub(super) left: Option<(Left, Link)>,
}

/// A path of a tag. It represents all elements of the arrays in `strides`.
#[derive(Clone, Debug)]
pub(super) struct Denoted {
    /// The arrays for which the tag does not determine the element.
    pub(super) strides: Vec<Stride>,
    pub(super) link: Link,
    pub(super) tracked: Option<Box<Tracked>>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct PathPlace {
    slot: u128,
    /// The collapsed offset if another access is tracked, otherwise equal to `fixed`.
    at: u64,
    /// The offset including the array elements that the tag determines.
    fixed: u64,
    left: Option<Left>,
}

/// Returns the paths of an access at its offset, which is read as collapsed. If there are none and
/// the access is not to its whole base type, reads the offset as one that includes array indices.
/// For rule `union-strict`, `tracked` is the other access, whose objects q leads to.
pub(super) fn denoted(
    types: &Types,
    access: &Resolved,
    tracked: Option<&Resolved>,
    arena: &mut PathArena,
    budget: &mut Budget,
) -> Result<Vec<Denoted>, Exhausted> {
    for folded in [true, false] {
        let (arena, budget, pending) = (&mut *arena, &mut *budget, Pending::new());
        let search = Search { types, access, tracked, folded, arena, budget, pending };
        let found = search.run()?;
        if !found.is_empty() || access.is_whole() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// Returns the strides of a regular tag's only path. No other fields overlap the fields on it.
pub(super) fn on_clear_walk(types: &Types, access: &Resolved) -> Vec<Stride> {
    let (mut ty, mut rest, mut strides) = (access.base, access.offset, Vec::new());
    while ty != access.access
        && let Some(at) = types.field_at(ty, rest)
    {
        let field = &types.fields(ty)[at];
        if let Some(array) = elements(types, field, UNBOUNDED) {
            add_stride(&mut strides, array);
        }
        (ty, rest) = (field.ty, rest - field.offset);
    }
    strides
}

struct Search<'w> {
    types: &'w Types,
    access: &'w Resolved,
    tracked: Option<&'w Resolved>,
    /// True if the tag's offset is read as collapsed: array elements do not add to it.
    folded: bool,
    arena: &'w mut PathArena,
    budget: &'w mut Budget,
    pending: Pending<PathPlace>,
}

impl Search<'_> {
    fn run(mut self) -> Result<Vec<Denoted>, Exhausted> {
        let (types, access) = (self.types, self.access);
        let mut found = Vec::new();
        let start = PathPlace { slot: UNBOUNDED, at: 0, fixed: 0, left: None };
        let way = Way { strides: Vec::new(), link: Link::START, left: Link::START };
        self.pending.add(types, access.base, start, way);
        while let Some((ty, place, ways)) = self.pending.pop() {
            for way in ways {
                if ty == access.access {
                    if place.fixed == access.offset {
                        found.push(self.end(ty, &place, way));
                    }
                    continue;
                }
                if place.left.is_none()
                    && let Some(b) = self.tracked.filter(|b| b.has_object(types, ty))
                {
                    // At the end of q there is an object of b, so store b's base type.
                    let left = self.leave(b.base, &place, &way, Leaving::End);
                    let way = Way { left: way.link, ..way.clone() };
                    self.step(ty, &left, &way)?;
                }
                self.step(ty, &place, &way)?;
            }
        }
        Ok(found)
    }

    /// Returns the position with the note that q leaves p there.
    fn leave(&self, ty: TypeIndex, at: &PathPlace, way: &Way, by: Leaving) -> PathPlace {
        let strides = way.strides.clone();
        let object = Object { ty, slot: at.slot, at: at.at, strides };
        PathPlace { left: Some(Left { object, by }), ..at.clone() }
    }

    /// Continues into each field that may lead to the end of the path.
    fn step(&mut self, ty: TypeIndex, place: &PathPlace, way: &Way) -> Result<(), Exhausted> {
        let types = self.types;
        let Some(rest) = self.access.offset.checked_sub(place.fixed) else { return Ok(()) };
        for (number, field) in types.fields(ty).iter().enumerate() {
            self.budget.spend()?;
            // The offsets of fields never decrease.
            if field.offset > rest {
                break;
            }
            if !types.may_hold(field.ty, self.access.access) {
                continue;
            }
            let parts = place.left.is_none() && self.may_part();
            if parts && self.others_hold(ty, number)? {
                let left = self.leave(ty, place, way, Leaving::Field(number));
                let way = Way { left: way.link, ..way.clone() };
                self.enter((ty, number), &left, &way)?;
            }
            self.enter((ty, number), place, way)?;
        }
        Ok(())
    }

    /// Returns whether q may leave p at fields that share no bytes, and still reach bytes of p. No
    /// q can if the access stays in its access type and no contents in the base type extend past a
    /// declared end.
    fn may_part(&self) -> bool {
        let (types, access) = (self.types, self.access);
        let keeps = |size| {
            u128::from(size) <= types.get(access.access).far && !types.get(access.base).crooked
        };
        self.tracked.is_some() && !access.size.and_then(Size::bytes).is_some_and(keeps)
    }

    /// Returns whether an object of b may be in a field that shares no byte with field `taken`.
    fn others_hold(&mut self, ty: TypeIndex, taken: usize) -> Result<bool, Exhausted> {
        let (types, Some(b)) = (self.types, self.tracked) else { return Ok(false) };
        self.budget.look(types.fields(ty).len())?;
        Ok(others(types, ty, taken).any(|(_, other)| types.may_hold(other.ty, b.base)))
    }

    /// Continues into a field, or into those of its elements that may lead to the end of the path.
    fn enter(
        &mut self,
        (ty, number): (TypeIndex, usize),
        place: &PathPlace,
        way: &Way,
    ) -> Result<(), Exhausted> {
        let types = self.types;
        let field = &types.fields(ty)[number];
        let begin = place.fixed + field.offset;
        let inside = self.access.offset - begin;
        let far = types.get(field.ty).far;
        let array = elements(types, field, place.slot);
        let (least, most, step) = match array {
            Some(Stride { step, last }) if !self.folded => {
                let least = u128::from(inside).saturating_sub(far).div_ceil(step);
                (least, (u128::from(inside) / step).min(last), step as u64)
            }
            _ if u128::from(inside) > far => return Ok(()),
            _ => (0, 0, 0),
        };
        let mut strides = way.strides.clone();
        if (self.folded || self.tracked.is_some())
            && let Some(array) = array
        {
            add_stride(&mut strides, array);
        }
        let taken = self.arena.step(way.link, ty, number);
        let collapsed = place.at.checked_add(field.offset).ok_or(Exhausted)?;
        let slot = slot_of(types, field, array);
        for element in least..=most {
            self.budget.spend()?;
            // `element * step` is at most `inside`, so it fits in 64 bits.
            let fixed = begin + element as u64 * step;
            let at = if self.tracked.is_some() { collapsed } else { fixed };
            let next = PathPlace { slot, at, fixed, left: place.left.clone() };
            let next_way = Way { strides: strides.clone(), link: taken, left: way.left };
            let others = self.pending.add(types, field.ty, next, next_way);
            (0..others).try_for_each(|_| self.budget.spend())?;
            let Some(b) = self.tracked.filter(|_| place.left.is_none() && self.may_part()) else {
                continue;
            };
            let mut leave =
                |left: Left, strides: Vec<Stride>, other: usize, budget: &mut Budget| {
                    let next = PathPlace { slot, at, fixed, left: Some(left) };
                    let left = self.arena.step(way.link, ty, other);
                    let way = Way { strides, link: taken, left };
                    let others = self.pending.add(types, field.ty, next, way);
                    (0..others).try_for_each(|_| budget.spend())
                };
            let p = Taken { types, b, ty, number, array, place, element, folded: self.folded };
            p.leave(self.budget, &mut leave)?;
        }
        Ok(())
    }

    fn end(&self, ty: TypeIndex, place: &PathPlace, way: Way) -> Denoted {
        let tracked = self.tracked.map(|_| {
            let left = place.left.clone().map(|left| (left, way.left));
            let strides = way.strides.clone();
            let end = Object { ty, slot: place.slot, at: place.at, strides };
            Box::new(Tracked { end, left })
        });
        let strides = if self.folded { way.strides } else { Vec::new() };
        Denoted { strides, link: way.link, tracked }
    }
}

/// Receives elements that q may take, the strides of p, and the index of q's field.
type OnRun<'f> = &'f mut dyn FnMut(Left, Vec<Stride>, usize, &mut Budget) -> Result<(), Exhausted>;

/// The field of `ty`, and the element of that field, by which p continues.
struct Taken<'t> {
    types: &'t Types,
    /// The other access, whose objects q leads to.
    b: &'t Resolved,
    ty: TypeIndex,
    number: usize,
    array: Option<Stride>,
    place: &'t PathPlace,
    /// The index of the element. It is 0 if the tag does not determine the index.
    element: u128,
    folded: bool,
}

impl Taken<'_> {
    /// Calls `found` for sequences of elements that q may take instead of p's element. These share
    /// no declared byte with p's element. They are in p's field or in a field that overlaps it.
    ///
    /// Arrays that contain `ty` do not add strides: if p and q took different elements there, q
    /// has already left p.
    fn leave(&self, budget: &mut Budget, found: OnRun<'_>) -> Result<(), Exhausted> {
        let types = self.types;
        let fields = types.fields(self.ty);
        let own = types.declared_slot(&fields[self.number]);
        budget.look(fields.len())?;
        for (number, field) in fields.iter().enumerate() {
            if !types.may_hold(field.ty, self.b.base) {
                continue;
            }
            let array = elements(types, field, self.place.slot);
            let shares = !are_apart(&own, &types.declared_slot(field));
            if number == self.number && self.folded {
                self.leave_for_neighbour(budget, found)?;
            } else if shares && (array.is_some() || self.array.is_some()) {
                let Stride { step, last } = self.array.unwrap_or(Stride { step: 0, last: 0 });
                let elements = match self.folded {
                    true => 0..last + 1,
                    false => self.element..self.element + 1,
                };
                // Elements of p that begin after the other field's contents do not matter.
                let near = types.slot(self.ty, number).end.saturating_sub(own.start);
                let near = near.checked_div(step).map_or(1, |near| near + 1);
                if elements.end.min(near).saturating_sub(elements.start) > STRICT_ELEMENTS {
                    return Err(Exhausted);
                }
                for element in elements.start..elements.end.min(near) {
                    budget.spend()?;
                    let start = own.start + element * step;
                    let end = if self.array.is_some() { start + step } else { own.end };
                    let shift = if self.folded { element * step } else { 0 };
                    for run in self.runs(field, array, start..end.min(own.end), shift)? {
                        found(run, Vec::new(), number, budget)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Like `leave`, for an array whose index the tag does not determine. Only the distance between
    /// the elements of p and q matters, so the earlier one can be the first of the array.
    fn leave_for_neighbour(&self, budget: &mut Budget, found: OnRun<'_>) -> Result<(), Exhausted> {
        let Some(Stride { step, last: count @ 1.. }) = self.array else { return Ok(()) };
        let field = &self.types.fields(self.ty)[self.number];
        let strides = vec![Stride { step, last: count - 1 }];
        let run = |from, strides: &[Stride], shift| self.run(field, (from, strides), shift);
        found(run(step, &strides, 0)?, Vec::new(), self.number, budget)?;
        // An element before p's matters only if its contents extend into the next element.
        if self.types.get(field.ty).far <= step {
            return Ok(());
        }
        found(run(0, &[], step)?, strides, self.number, budget)
    }

    /// Returns the elements of a field that are before or after the range `bytes`.
    fn runs(
        &self,
        field: &Field,
        array: Option<Stride>,
        bytes: Range<u128>,
        shift: u128,
    ) -> Result<impl Iterator<Item = Left> + use<>, Exhausted> {
        let slot = self.types.declared_slot(field);
        let step = array.map_or(slot.end - slot.start, |array| array.step).max(1);
        let count = array.map_or(1, |array| array.last + 1);
        let before = match bytes.start >= slot.end {
            true => count,
            false => (bytes.start.saturating_sub(slot.start) / step).min(count),
        };
        let after = bytes.end.saturating_sub(slot.start).div_ceil(step).min(count);
        let run = |first: u128, count: u128| {
            let strides = [Stride { step, last: count - 1 }];
            let strides = if count > 1 { &strides[..] } else { &[] };
            self.run(field, (first * step, strides), shift)
        };
        let before = (before > 0).then(|| run(0, before)).transpose()?;
        let after = (after < count).then(|| run(after, count - after)).transpose()?;
        Ok(before.into_iter().chain(after))
    }

    /// Returns the elements of a field that begin at offset `from` and are repeated at `strides`.
    fn run(
        &self,
        field: &Field,
        (from, strides): (u128, &[Stride]),
        shift: u128,
    ) -> Result<Left, Exhausted> {
        let types = self.types;
        let array = elements(types, field, self.place.slot);
        let at = u128::from(self.place.fixed) + u128::from(field.offset) + from;
        let at = u64::try_from(at).map_err(|_| Exhausted)?;
        let shift = u64::try_from(shift).map_err(|_| Exhausted)?;
        let slot = slot_of(types, field, array);
        let object = Object { ty: field.ty, slot, at, strides: strides.to_vec() };
        Ok(Left { object, by: Leaving::Element { shift } })
    }
}

/// Returns the fields of a type whose declared bytes do not overlap those of field `number`.
pub(super) fn others(
    types: &Types,
    ty: TypeIndex,
    number: usize,
) -> impl Iterator<Item = (usize, &Field)> {
    let taken = types.declared_slot(&types.fields(ty)[number]);
    let fields = types.fields(ty).iter().enumerate();
    fields.filter(move |&(other, field)| {
        other != number && are_apart(&taken, &types.declared_slot(field))
    })
}

/// Returns whether two ranges have no byte in common.
fn are_apart(a: &Range<u128>, b: &Range<u128>) -> bool {
    a.start.max(b.start) >= a.end.min(b.end)
}

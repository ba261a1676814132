//! The size-aware paths that a tag denotes.
//!
//! All have one collapsed offset, so what tells them apart is the arrays that they
//! cross: their strides. For rule `union-strict` the same search carries along where q
//! may have left the way of p: [`Tracked`].

use super::access::Resolved;
use super::arena::{Link, PathArena};
use super::stride::add_stride;
use super::traversal::{Pending, Way};
use crate::extent::{Size, UNBOUNDED};
use crate::oracle::limits::{Budget, Exhausted};
use crate::oracle::types::{Field, Stride, TypeIndex, Types, elements, slot_of};

/// An object in a base type, or in all elements of the arrays around it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Object {
    pub(super) ty: TypeIndex,
    /// The bytes that it has to itself, where a flexible array in it asks.
    pub(super) slot: u128,
    /// Bytes from the start of the base type, with all array indices 0.
    pub(super) at: u64,
    /// The arrays around it.
    pub(super) strides: Vec<Stride>,
}

/// Where q leaves the way of p: at an object on it, at which q ends or whose other
/// fields it takes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Left {
    pub(super) object: Object,
    /// The number of the field that p takes there, if q takes another.
    pub(super) parted: Option<usize>,
}

/// What rule `union-strict` asks of a path.
#[derive(Clone, Debug)]
pub(super) struct Tracked {
    /// What the path ends at, from which q may go on.
    pub(super) end: Object,
    /// Where q left the path's way before, and the path up to there.
    pub(super) left: Option<(Left, Link)>,
}

/// A path that a tag denotes, in all elements of the arrays that it crosses.
#[derive(Clone, Debug)]
pub(super) struct Denoted {
    /// The arrays whose elements the tag leaves open.
    pub(super) strides: Vec<Stride>,
    pub(super) link: Link,
    pub(super) tracked: Option<Box<Tracked>>,
}

/// A place on the way, apart from the elements that lead there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct PathPlace {
    slot: u128,
    /// Collapsed offset.
    at: u64,
    /// Displacement, as far as the tag tells elements.
    fixed: u64,
    left: Option<Left>,
}

/// Returns the paths that an access denotes: those with its collapsed offset, or if
/// there are none, those with its displacement. `tracked` is the access whose objects
/// q looks for, for rule `union-strict`.
pub(super) fn denoted(
    types: &Types,
    access: &Resolved,
    tracked: Option<&Resolved>,
    arena: &mut PathArena,
    budget: &mut Budget,
) -> Result<Vec<Denoted>, Exhausted> {
    for folded in [true, false] {
        let found = Search { types, access, tracked, folded, arena }.run(budget)?;
        if !found.is_empty() || access.is_whole() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// Returns the strides of a path to which one way leads, by clear fields.
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
    /// Whether the offset leaves element indices out.
    folded: bool,
    arena: &'w mut PathArena,
}

impl Search<'_> {
    fn run(&mut self, budget: &mut Budget) -> Result<Vec<Denoted>, Exhausted> {
        let (types, access) = (self.types, self.access);
        let mut found = Vec::new();
        let mut pending = Pending::new();
        let start = PathPlace { slot: UNBOUNDED, at: 0, fixed: 0, left: None };
        let way = Way { strides: Vec::new(), link: Link::START, left: Link::START };
        pending.add(types, access.base, start, way);
        while let Some((ty, place, ways)) = pending.pop() {
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
                    // Where q ends it is seen as an object of b.
                    let left = self.leave(b.base, &place, &way, None);
                    let way = Way { left: way.link, ..way.clone() };
                    self.step(ty, &left, &way, &mut pending, budget)?;
                }
                self.step(ty, &place, &way, &mut pending, budget)?;
            }
        }
        Ok(found)
    }

    /// The place of a p whose way q leaves there.
    fn leave(&self, ty: TypeIndex, at: &PathPlace, way: &Way, parted: Option<usize>) -> PathPlace {
        let strides = way.strides.clone();
        let object = Object { ty, slot: at.slot, at: at.at, strides };
        PathPlace { left: Some(Left { object, parted }), ..at.clone() }
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
        let types = self.types;
        let Some(rest) = self.access.offset.checked_sub(place.fixed) else { return Ok(()) };
        for (number, field) in types.fields(ty).iter().enumerate() {
            budget.spend()?;
            // Offsets ascend.
            if field.offset > rest {
                break;
            }
            if !types.may_hold(field.ty, self.access.access) {
                continue;
            }
            if place.left.is_none() && self.may_part(ty, number, budget)? {
                let left = self.leave(ty, place, way, Some(number));
                let way = Way { left: way.link, ..way.clone() };
                self.enter((ty, number), &left, &way, pending, budget)?;
            }
            self.enter((ty, number), place, way, pending, budget)?;
        }
        Ok(())
    }

    /// Whether q may go on by another field than p, where no bytes are shared, and
    /// come to bytes of p that leave their field.
    fn may_part(
        &self,
        ty: TypeIndex,
        taken: usize,
        budget: &mut Budget,
    ) -> Result<bool, Exhausted> {
        let (types, access) = (self.types, self.access);
        let keeps = |size| {
            u128::from(size) <= types.get(access.access).far && !types.get(access.base).crooked
        };
        let Some(b) =
            self.tracked.filter(|_| !access.size.and_then(Size::bytes).is_some_and(keeps))
        else {
            return Ok(false);
        };
        budget.look(types.fields(ty).len())?;
        Ok(others(types, ty, taken).any(|(_, other)| types.may_hold(other.ty, b.base)))
    }

    /// Goes on into one field, or each element of it, that may lead to the end.
    fn enter(
        &mut self,
        (ty, number): (TypeIndex, usize),
        place: &PathPlace,
        way: &Way,
        pending: &mut Pending<PathPlace>,
        budget: &mut Budget,
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
        let link = self.arena.step(way.link, ty, number);
        let collapsed = place.at.checked_add(field.offset).ok_or(Exhausted)?;
        let slot = slot_of(types, field, array);
        for element in least..=most {
            budget.spend()?;
            // No more than `inside`.
            let fixed = begin + element as u64 * step;
            let at = if self.tracked.is_some() { collapsed } else { fixed };
            let next = PathPlace { slot, at, fixed, left: place.left.clone() };
            let way = Way { strides: strides.clone(), link, left: way.left };
            for _ in 0..pending.add(types, field.ty, next, way) {
                budget.spend()?;
            }
        }
        Ok(())
    }

    /// A path that ends at a place.
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

/// The fields of a type that share no byte with the one of a number.
pub(super) fn others(
    types: &Types,
    ty: TypeIndex,
    number: usize,
) -> impl Iterator<Item = (usize, &Field)> {
    let taken = types.slot(ty, number);
    types.fields(ty).iter().enumerate().filter(move |&(other, _)| {
        let slot = types.slot(ty, other);
        other != number && taken.start.max(slot.start) >= taken.end.min(slot.end)
    })
}

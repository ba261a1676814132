//! The search where sizes are unknown: the old format.
//!
//! Only where two paths part is there anything to go by: the slots of the two
//! fields. In a plain aggregate a field's slot ends where the next begins, so
//! two slots never meet; in an overlapping one every slot runs to the end of
//! the aggregate, so any two do. (A field that begins past the end of its
//! aggregate's slot is a contradiction in the layout, and doubt.) Hence no
//! slot need be measured, and p, q and r are followed side by side: first p
//! and q together, then, where q has ended, p and r.

use std::collections::{HashMap, HashSet};

use super::flood::{Reach, Resolved, reach};
use super::limits::{Budget, Exhausted};
use super::trail::{Link, Trail};
use super::types::{Field, TypeIndex, Types};

/// An access and the places from which a path that it denotes goes on.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) access: Resolved,
    /// A type and the offset that remains from its start.
    alive: HashSet<(TypeIndex, u64)>,
}

impl Side {
    /// Follows all paths of the access's collapsed offset.
    pub(crate) fn new(
        types: &Types,
        access: Resolved,
        budget: &mut Budget,
    ) -> Result<Side, Exhausted> {
        let reach = reach(types, access.base, |ty| ty == access.access, budget)?;
        let start = (access.base, access.offset);
        let mut places = vec![start];
        let mut alive = HashSet::from([start]);
        let mut next = 0;
        while let Some(&(ty, rest)) = places.get(next) {
            next += 1;
            for field in types.fields(ty) {
                budget.spend()?;
                let Some(rest) = rest.checked_sub(field.offset) else { break };
                let far = reach.get(&field.ty).map(|reach| reach.collapsed);
                if far >= Some(rest.into()) && alive.insert((field.ty, rest)) {
                    places.push((field.ty, rest));
                }
            }
        }
        // Now keep those that arrive; what a type contains has a lower rank.
        places.sort_unstable_by_key(|&(ty, _)| types.get(ty).rank);
        for &(ty, rest) in &places {
            let goes_on = types.fields(ty).iter().any(|field| {
                rest.checked_sub(field.offset).is_some_and(|rest| alive.contains(&(field.ty, rest)))
            });
            if !goes_on && (ty, rest) != (access.access, 0) {
                alive.remove(&(ty, rest));
            }
        }
        Ok(Side { access, alive })
    }

    /// Whether the access denotes any path.
    pub(crate) fn denotes(&self) -> bool {
        self.is_alive(self.access.base, self.access.offset)
    }

    fn is_alive(&self, ty: TypeIndex, rest: u64) -> bool {
        self.alive.contains(&(ty, rest))
    }

    fn ends_at(&self, ty: TypeIndex, rest: u64) -> bool {
        (ty, rest) == (self.access.access, 0)
    }

    /// The fields of a type through which a denoted path goes on.
    pub(crate) fn fields<'t>(
        &self,
        types: &'t Types,
        ty: TypeIndex,
        rest: u64,
    ) -> Vec<(usize, &'t Field, u64)> {
        types
            .fields(ty)
            .iter()
            .enumerate()
            .map_while(|(number, field)| Some((number, field, rest.checked_sub(field.offset)?)))
            .filter(|&(_, field, rest)| self.is_alive(field.ty, rest))
            .collect()
    }

    /// Goes on from a place to the end of some denoted path.
    fn finish(
        &self,
        types: &Types,
        (mut ty, mut rest): (TypeIndex, u64),
        mut link: Link,
        trail: &mut Trail,
    ) -> Link {
        while !self.ends_at(ty, rest) {
            let fields = self.fields(types, ty, rest);
            let Some(&(number, field, inside)) = fields.first() else { break };
            link = trail.step(link, ty, number);
            (ty, rest) = (field.ty, inside);
        }
        link
    }
}

/// Three paths: p from the outer base, q from there to an object of the other
/// access, and r from that object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paths {
    pub(crate) p: Link,
    pub(crate) q: Link,
    pub(crate) r: Link,
}

/// What the search found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    /// The paths never part, or part where slots meet.
    Meet(Paths),
    /// There are paths, but all part where slots do not meet; or under
    /// `union-strict`, which gives no example, where p and q must not part.
    Apart(Option<Paths>),
    /// No object of the other access lies in this one's base.
    Nothing,
}

/// Looks for objects of `b` from `a.base` whose slots meet those of `a`.
pub(crate) struct Search<'s> {
    pub(crate) types: &'s Types,
    pub(crate) a: &'s Side,
    pub(crate) b: &'s Side,
    pub(crate) strict: bool,
    objects: HashMap<TypeIndex, Reach>,
    apart: Option<Paths>,
}

/// Where p, and q or r, have come to without having parted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Place {
    ty: TypeIndex,
    /// What remains of p's offset.
    p: u64,
    /// What remains of r's offset; `None` while q has not ended.
    r: Option<u64>,
}

impl<'s> Search<'s> {
    pub(crate) fn new(
        types: &'s Types,
        (a, b): (&'s Side, &'s Side),
        strict: bool,
        budget: &mut Budget,
    ) -> Result<Self, Exhausted> {
        let objects = reach(types, a.access.base, |ty| b.access.has_object(types, ty), budget)?;
        Ok(Search { types, a, b, strict, objects, apart: None })
    }

    pub(crate) fn run(
        mut self,
        trail: &mut Trail,
        budget: &mut Budget,
    ) -> Result<Found, Exhausted> {
        let start = Place { ty: self.a.access.base, p: self.a.access.offset, r: None };
        let at_start = Paths { p: Link::START, q: Link::START, r: Link::START };
        let mut seen = HashSet::from([start]);
        let mut work = vec![(start, at_start)];
        if !self.objects.contains_key(&start.ty) {
            return Ok(Found::Nothing);
        }
        while let Some((place, paths)) = work.pop() {
            budget.spend()?;
            let met = match place.r {
                None => self.together(place, paths, trail, budget)?,
                Some(rest) => self.inside(place, rest, paths, trail, budget)?,
            };
            match met {
                Ok(paths) => return Ok(Found::Meet(paths)),
                Err(next) => {
                    for (place, paths) in next {
                        if seen.insert(place) {
                            work.push((place, paths));
                        }
                    }
                }
            }
        }
        Ok(Found::Apart(self.apart))
    }

    /// p and q have come to one place. Returns paths that meet, or the places
    /// that come next.
    fn together(
        &mut self,
        place: Place,
        paths: Paths,
        trail: &mut Trail,
        budget: &mut Budget,
    ) -> Result<Result<Paths, Vec<(Place, Paths)>>, Exhausted> {
        let Place { ty, p: rest, .. } = place;
        let b = &self.b.access;
        let mut next = Vec::new();
        if b.has_object(self.types, ty) {
            if b.is_whole() {
                // r is empty, so p goes on where q and r have ended.
                return Ok(Ok(self.finish_p((ty, rest), paths, trail)));
            }
            let inside = Place { r: Some(b.offset), ..place };
            next.push((inside, Paths { q: paths.p, r: Link::START, ..paths }));
        }
        if self.a.ends_at(ty, rest) && self.objects.contains_key(&ty) {
            let paths = Paths { q: paths.p, ..paths };
            return Ok(Ok(self.finish_q(ty, paths, trail)));
        }
        let fields = self.a.fields(self.types, ty, rest);
        for &(number, field, inside) in &fields {
            budget.spend()?;
            let link = trail.step(paths.p, ty, number);
            if self.objects.contains_key(&field.ty) {
                let place = Place { ty: field.ty, p: inside, r: None };
                next.push((place, Paths { p: link, ..paths }));
            }
            if self.strict {
                continue;
            }
            for (other, their_field) in self.types.fields(ty).iter().enumerate() {
                budget.spend()?;
                let Some(reach) = self.objects.get(&their_field.ty) else { continue };
                if other == number {
                    continue;
                }
                // The farthest that b can start from this type.
                let start = u128::from(their_field.offset) + reach.collapsed + u128::from(b.offset);
                let meet = self.slots_meet(ty, (field, rest.into()), (their_field, start));
                if meet || self.apart.is_none() {
                    let q = trail.step(paths.p, ty, other);
                    let paths =
                        self.finish_p((field.ty, inside), Paths { p: link, q, ..paths }, trail);
                    let paths = self.finish_q(their_field.ty, paths, trail);
                    if meet {
                        return Ok(Ok(paths));
                    }
                    self.apart = Some(paths);
                }
            }
        }
        Ok(Err(next))
    }

    /// q has ended; p and r have come to one place, with `rest` of r's offset
    /// to go. Returns paths that meet, or the places that come next.
    fn inside(
        &mut self,
        place: Place,
        rest: u64,
        paths: Paths,
        trail: &mut Trail,
        budget: &mut Budget,
    ) -> Result<Result<Paths, Vec<(Place, Paths)>>, Exhausted> {
        let Place { ty, p: our_rest, .. } = place;
        if self.a.ends_at(ty, our_rest) || self.b.ends_at(ty, rest) {
            let paths = self.finish_p((ty, our_rest), paths, trail);
            return Ok(Ok(Paths {
                r: self.b.finish(self.types, (ty, rest), paths.r, trail),
                ..paths
            }));
        }
        let mut next = Vec::new();
        let theirs = self.b.fields(self.types, ty, rest);
        for (number, field, inside) in self.a.fields(self.types, ty, our_rest) {
            for &(other, their_field, their_inside) in &theirs {
                budget.spend()?;
                let same = number == other;
                let meet = !same
                    && self.slots_meet(ty, (field, our_rest.into()), (their_field, rest.into()));
                if !same && !meet && self.apart.is_some() {
                    continue;
                }
                let paths = Paths {
                    p: trail.step(paths.p, ty, number),
                    r: trail.step(paths.r, ty, other),
                    ..paths
                };
                if same {
                    next.push((Place { ty: field.ty, p: inside, r: Some(their_inside) }, paths));
                    continue;
                }
                let paths = self.finish_p((field.ty, inside), paths, trail);
                let r = self.b.finish(self.types, (their_field.ty, their_inside), paths.r, trail);
                let paths = Paths { r, ..paths };
                if meet {
                    return Ok(Ok(paths));
                }
                self.apart = Some(paths);
            }
        }
        Ok(Err(next))
    }

    /// Whether the slots of two fields of `ty` meet. Each field comes with
    /// where its access starts, in bytes from the start of `ty`.
    fn slots_meet(&self, ty: TypeIndex, ours: (&Field, u128), theirs: (&Field, u128)) -> bool {
        if self.types.get(ty).overlapping {
            return true;
        }
        // An access known to be larger than its slot runs into the next.
        let (a, b) = ((ours, self.a.access.size), (theirs, self.b.access.size));
        let (((_, start), size), ((after, _), _)) =
            if ours.0.offset < theirs.0.offset { (a, b) } else { (b, a) };
        size.is_some_and(|size| start + u128::from(size) > u128::from(after.offset))
    }

    fn finish_p(&self, from: (TypeIndex, u64), paths: Paths, trail: &mut Trail) -> Paths {
        Paths { p: self.a.finish(self.types, from, paths.p, trail), ..paths }
    }

    /// Goes on to the first object, and from there along some r.
    fn finish_q(&self, mut ty: TypeIndex, mut paths: Paths, trail: &mut Trail) -> Paths {
        let b = &self.b.access;
        while !b.has_object(self.types, ty) {
            let fields = self.types.fields(ty);
            let to_object = |field: &Field| self.objects.contains_key(&field.ty);
            let Some(number) = fields.iter().position(to_object) else { break };
            paths.q = trail.step(paths.q, ty, number);
            ty = fields[number].ty;
        }
        paths.r = self.b.finish(self.types, (b.base, b.offset), Link::START, trail);
        paths
    }
}

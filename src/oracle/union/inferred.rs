//! The search where sizes are unknown: the old format.
//!
//! Only where two paths part is there anything to go by: the slots of the two
//! fields. In a plain aggregate a field's slot ends where the next begins, so
//! two slots never meet; in an overlapping one every slot runs to the end of
//! the aggregate, so any two do. (A field that begins past the end of its
//! aggregate's slot is a contradiction in the layout, and doubt.) Hence no
//! slot need be measured, and p, q and r are followed side by side: first p
//! and q together, then, where q has ended, p and r.

use std::cell::Cell;

use super::access::Resolved;
use super::arena::{Link, PathArena};
use super::types::{Field, TypeIndex, Types};
use crate::oracle::limits::{Budget, Exhausted};
use crate::table::{HashMap, HashSet};

/// Which types contain a target, found out as far as it is asked.
#[derive(Clone, Default, Debug)]
struct Containing {
    /// Whether a type contains a target or is one. Of one that does, the fields
    /// before the first that does are known, too.
    contains: HashMap<TypeIndex, bool>,
    /// The farthest that a target lies below a type, in bytes of collapsed
    /// offset.
    farthest: HashMap<TypeIndex, Option<u128>>,
}

impl Containing {
    fn contains(
        &mut self,
        types: &Types,
        ty: TypeIndex,
        // What a target is, or is seen as.
        (object, is_target): (TypeIndex, impl Fn(TypeIndex) -> bool),
        budget: &mut Budget,
    ) -> Result<bool, Exhausted> {
        let looks = Cell::new(0);
        let found = search(&mut self.contains, ty, |ty| {
            budget.spend()?;
            budget.look(looks.take())?;
            let fields = types.fields(ty).iter().map(|field| field.ty);
            Ok((is_target(ty), fields.filter(|&ty| may_lead(types, ty, object, &looks))))
        })?;
        budget.look(looks.take())?;
        Ok(found)
    }

    fn farthest(
        &mut self,
        types: &Types,
        ty: TypeIndex,
        is_target: impl Fn(TypeIndex) -> bool,
        budget: &mut Budget,
    ) -> Result<Option<u128>, Exhausted> {
        if let Some(&known) = self.farthest.get(&ty) {
            return Ok(known);
        }
        let (mut seen, mut below) = (HashSet::from([ty]), vec![ty]);
        let mut next = 0;
        while let Some(&ty) = below.get(next) {
            next += 1;
            if !self.contains.contains_key(&ty) {
                budget.spend()?;
                budget.look(types.fields(ty).len())?;
            }
            for field in types.fields(ty) {
                if !self.farthest.contains_key(&field.ty) && seen.insert(field.ty) {
                    below.push(field.ty);
                }
            }
        }
        // What a type contains has a lower rank.
        below.sort_unstable_by_key(|&ty| types.get(ty).rank);
        for ty in below {
            let inside = types.fields(ty).iter().filter_map(|field| {
                let inside = self.farthest.get(&field.ty).copied().flatten()?;
                Some(u128::from(field.offset) + inside)
            });
            let farthest = inside.max().or(is_target(ty).then_some(0));
            self.farthest.insert(ty, farthest);
            self.contains.insert(ty, farthest.is_some());
        }
        Ok(self.farthest.get(&ty).copied().flatten())
    }
}

/// Looks whether a field of a type may lead to an object.
fn may_lead(types: &Types, ty: TypeIndex, object: TypeIndex, looks: &Cell<usize>) -> bool {
    looks.set(looks.get() + 1);
    types.may_hold(ty, object)
}

/// Returns whether a target can be reached from a place: depth first, in order,
/// no place visited twice. `visit` says whether a place is a target, and what
/// comes after it; nothing comes after itself.
fn search<P: Copy + Eq + std::hash::Hash, N: Iterator<Item = P>>(
    known: &mut HashMap<P, bool>,
    start: P,
    mut visit: impl FnMut(P) -> Result<(bool, N), Exhausted>,
) -> Result<bool, Exhausted> {
    let mut open: Vec<(P, N)> = Vec::new();
    let mut at = start;
    loop {
        let found = match known.get(&at) {
            Some(&known) => known,
            None => {
                let (is_target, next) = visit(at)?;
                open.push((at, next));
                is_target
            }
        };
        // Back to where there is more to see.
        at = loop {
            let Some((place, next)) = open.last_mut() else { return Ok(found) };
            if !found && let Some(next) = next.next() {
                break next;
            }
            known.insert(*place, found);
            open.pop();
        };
    }
}

/// An access and the places from which a path that it denotes goes on.
#[derive(Debug)]
pub(crate) struct SearchedAccess {
    pub(crate) access: Resolved,
    reach: Containing,
    /// Whether a path goes on from a type and the offset that remains from its
    /// start, as far as it was asked.
    alive: HashMap<(TypeIndex, u64), bool>,
}

impl SearchedAccess {
    pub(crate) fn new(access: Resolved) -> SearchedAccess {
        SearchedAccess { access, reach: Containing::default(), alive: HashMap::default() }
    }

    /// Whether the access denotes any path.
    pub(crate) fn denotes(
        &mut self,
        types: &Types,
        budget: &mut Budget,
    ) -> Result<bool, Exhausted> {
        self.is_alive(types, (self.access.base, self.access.offset), budget)
    }

    fn is_alive(
        &mut self,
        types: &Types,
        place: (TypeIndex, u64),
        budget: &mut Budget,
    ) -> Result<bool, Exhausted> {
        let SearchedAccess { access, reach, alive } = self;
        let is_access = |ty| ty == access.access;
        // Not that of a class without data, which counts for nothing in `far`.
        let formed = types.get(access.access).format.is_some();
        let looks = Cell::new(0);
        let found = search(alive, place, |(ty, rest)| {
            budget.spend()?;
            budget.look(looks.take())?;
            let leads = match rest {
                0 => reach.contains(types, ty, (access.access, is_access), budget)?,
                _ if formed && u128::from(rest) > types.get(ty).far => false,
                _ => reach.farthest(types, ty, is_access, budget)? >= Some(rest.into()),
            };
            let fields = if leads { types.fields(ty) } else { &[] };
            let next = fields
                .iter()
                .map_while(move |field| Some((field.ty, rest.checked_sub(field.offset)?)));
            let next = next.filter(|&(ty, _)| may_lead(types, ty, access.access, &looks));
            Ok(((ty, rest) == (access.access, 0), next))
        })?;
        budget.look(looks.take())?;
        Ok(found)
    }

    fn ends_at(&self, ty: TypeIndex, rest: u64) -> bool {
        (ty, rest) == (self.access.access, 0)
    }

    /// The fields of a type through which a denoted path goes on.
    pub(crate) fn fields<'t>(
        &mut self,
        types: &'t Types,
        ty: TypeIndex,
        rest: u64,
        budget: &mut Budget,
    ) -> Result<Vec<(usize, &'t Field, u64)>, Exhausted> {
        let mut fields = Vec::new();
        let looks = Cell::new(0);
        for (number, field) in types.fields(ty).iter().enumerate() {
            let Some(rest) = rest.checked_sub(field.offset) else { break };
            if may_lead(types, field.ty, self.access.access, &looks)
                && self.is_alive(types, (field.ty, rest), budget)?
            {
                fields.push((number, field, rest));
            }
        }
        budget.look(looks.take())?;
        Ok(fields)
    }

    /// Goes on from a place where a denoted path does to the end of one.
    fn finish(
        &self,
        types: &Types,
        (mut ty, mut rest): (TypeIndex, u64),
        mut link: Link,
        arena: &mut PathArena,
    ) -> Link {
        while !self.ends_at(ty, rest) {
            // The search for it left the first behind.
            let found = types.fields(ty).iter().enumerate().find_map(|(number, field)| {
                let rest = rest.checked_sub(field.offset)?;
                let alive = self.alive.get(&(field.ty, rest)) == Some(&true);
                alive.then_some((number, field.ty, rest))
            });
            let Some((number, inside, left)) = found else { break };
            link = arena.step(link, ty, number);
            (ty, rest) = (inside, left);
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
    types: &'s Types,
    a: &'s mut SearchedAccess,
    b: &'s mut SearchedAccess,
    strict: bool,
    /// The types that contain objects of `b`.
    objects: Containing,
    apart: Option<Paths>,
}

/// Where p, and q or r, have come to without having parted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct SearchPlace {
    ty: TypeIndex,
    /// What remains of p's offset.
    p: u64,
    /// What remains of r's offset; `None` while q has not ended.
    r: Option<u64>,
}

impl<'s> Search<'s> {
    pub(crate) fn new(
        types: &'s Types,
        (a, b): (&'s mut SearchedAccess, &'s mut SearchedAccess),
        strict: bool,
    ) -> Self {
        Search { types, a, b, strict, objects: Containing::default(), apart: None }
    }

    pub(crate) fn run(
        &mut self,
        arena: &mut PathArena,
        budget: &mut Budget,
    ) -> Result<Found, Exhausted> {
        let start = SearchPlace { ty: self.a.access.base, p: self.a.access.offset, r: None };
        let at_start = Paths { p: Link::START, q: Link::START, r: Link::START };
        let mut seen = HashSet::from([start]);
        let mut work = vec![(start, at_start)];
        if !self.holds_object(start.ty, budget)? {
            return Ok(Found::Nothing);
        }
        while let Some((place, paths)) = work.pop() {
            budget.spend()?;
            let met = match place.r {
                None => self.together(place, paths, arena, budget)?,
                Some(rest) => self.inside(place, rest, paths, arena, budget)?,
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
        place: SearchPlace,
        paths: Paths,
        arena: &mut PathArena,
        budget: &mut Budget,
    ) -> Result<Result<Paths, Vec<(SearchPlace, Paths)>>, Exhausted> {
        let SearchPlace { ty, p: rest, .. } = place;
        let b = self.b.access;
        let mut next = Vec::new();
        if b.has_object(self.types, ty) {
            if b.is_whole() {
                // r is empty, so p goes on where q and r have ended.
                return Ok(Ok(self.finish_p((ty, rest), paths, arena)));
            }
            let inside = SearchPlace { r: Some(b.offset), ..place };
            next.push((inside, Paths { q: paths.p, r: Link::START, ..paths }));
        }
        if self.a.ends_at(ty, rest) && self.holds_object(ty, budget)? {
            let paths = Paths { q: paths.p, ..paths };
            return Ok(Ok(self.finish_q(ty, paths, arena)));
        }
        let fields = self.a.fields(self.types, ty, rest, budget)?;
        for &(number, field, inside) in &fields {
            budget.spend()?;
            let link = arena.step(paths.p, ty, number);
            if self.holds_object(field.ty, budget)? {
                let place = SearchPlace { ty: field.ty, p: inside, r: None };
                next.push((place, Paths { p: link, ..paths }));
            }
            if !self.strict
                && let Some(met) =
                    self.part(place, (number, field, inside), paths, arena, budget)?
            {
                return Ok(Ok(met));
            }
        }
        Ok(Err(next))
    }

    /// p goes on by one field, with so much of its offset left, and q by another.
    /// Returns paths that meet.
    fn part(
        &mut self,
        place: SearchPlace,
        (number, field, inside): (usize, &Field, u64),
        paths: Paths,
        arena: &mut PathArena,
        budget: &mut Budget,
    ) -> Result<Option<Paths>, Exhausted> {
        let SearchPlace { ty, p: rest, .. } = place;
        let p = arena.step(paths.p, ty, number);
        for (other, their_field) in self.types.fields(ty).iter().enumerate() {
            budget.spend()?;
            if other == number || !self.holds_object(their_field.ty, budget)? {
                continue;
            }
            // The farthest that b can start from this type.
            let start = u128::from(their_field.offset)
                + self.farthest_object(their_field.ty, budget)?
                + u128::from(self.b.access.offset);
            let meet = self.slots_meet(ty, (field, rest.into()), (their_field, start));
            if meet || self.apart.is_none() {
                let q = arena.step(paths.p, ty, other);
                let paths = self.finish_p((field.ty, inside), Paths { p, q, ..paths }, arena);
                let paths = self.finish_q(their_field.ty, paths, arena);
                if meet {
                    return Ok(Some(paths));
                }
                self.apart = Some(paths);
            }
        }
        Ok(None)
    }

    /// q has ended; p and r have come to one place, with `rest` of r's offset
    /// to go. Returns paths that meet, or the places that come next.
    fn inside(
        &mut self,
        place: SearchPlace,
        rest: u64,
        paths: Paths,
        arena: &mut PathArena,
        budget: &mut Budget,
    ) -> Result<Result<Paths, Vec<(SearchPlace, Paths)>>, Exhausted> {
        let SearchPlace { ty, p: our_rest, .. } = place;
        if self.a.ends_at(ty, our_rest) || self.b.ends_at(ty, rest) {
            let paths = self.finish_p((ty, our_rest), paths, arena);
            return Ok(Ok(Paths {
                r: self.b.finish(self.types, (ty, rest), paths.r, arena),
                ..paths
            }));
        }
        let mut next = Vec::new();
        let theirs = self.b.fields(self.types, ty, rest, budget)?;
        for (number, field, inside) in self.a.fields(self.types, ty, our_rest, budget)? {
            for &(other, their_field, their_inside) in &theirs {
                budget.spend()?;
                let same = number == other;
                let meet = !same
                    && self.slots_meet(ty, (field, our_rest.into()), (their_field, rest.into()));
                if !same && !meet && self.apart.is_some() {
                    continue;
                }
                let paths = Paths {
                    p: arena.step(paths.p, ty, number),
                    r: arena.step(paths.r, ty, other),
                    ..paths
                };
                if same {
                    next.push((
                        SearchPlace { ty: field.ty, p: inside, r: Some(their_inside) },
                        paths,
                    ));
                    continue;
                }
                let paths = self.finish_p((field.ty, inside), paths, arena);
                let r = self.b.finish(self.types, (their_field.ty, their_inside), paths.r, arena);
                let paths = Paths { r, ..paths };
                if meet {
                    return Ok(Ok(paths));
                }
                self.apart = Some(paths);
            }
        }
        Ok(Err(next))
    }

    /// Whether a type is an object of b or contains one.
    fn holds_object(&mut self, ty: TypeIndex, budget: &mut Budget) -> Result<bool, Exhausted> {
        let b = self.b.access;
        let is_object = |ty| b.has_object(self.types, ty);
        self.objects.contains(self.types, ty, (b.base, is_object), budget)
    }

    /// How far from the start of a type an object of b may lie, where that
    /// counts: where an access is known to be larger than its slot.
    fn farthest_object(&mut self, ty: TypeIndex, budget: &mut Budget) -> Result<u128, Exhausted> {
        let (a, b) = (self.a.access, self.b.access);
        if a.size.or(b.size).is_none() {
            return Ok(0);
        }
        let has_object = |ty| b.has_object(self.types, ty);
        Ok(self.objects.farthest(self.types, ty, has_object, budget)?.unwrap_or(0))
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

    fn finish_p(&self, from: (TypeIndex, u64), paths: Paths, arena: &mut PathArena) -> Paths {
        Paths { p: self.a.finish(self.types, from, paths.p, arena), ..paths }
    }

    /// Goes on to the first object, and from there along some r.
    fn finish_q(&self, mut ty: TypeIndex, mut paths: Paths, arena: &mut PathArena) -> Paths {
        let b = self.b.access;
        while !b.has_object(self.types, ty) {
            let fields = self.types.fields(ty);
            // The search for it left the first behind.
            let to_object = |field: &Field| self.objects.contains.get(&field.ty) == Some(&true);
            let Some(number) = fields.iter().position(to_object) else { break };
            paths.q = arena.step(paths.q, ty, number);
            ty = fields[number].ty;
        }
        paths.r = self.b.finish(self.types, (b.base, b.offset), Link::START, arena);
        paths
    }
}

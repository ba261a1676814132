//! The search without known sizes: the old format.
//!
//! Only the place where two paths part decides: by the slots of the two fields. In a plain
//! aggregate a field's slot ends where the next begins, so two slots never meet. In an overlapping
//! one every slot extends to the end of the aggregate, so any two meet. (A field that begins past
//! the end of its aggregate's slot is a contradiction in the layout, and counts as doubt.) So no
//! slot needs to be measured, and p, q and r are followed in parallel: first p and q together,
//! then, once q has ended, p and r.

use std::ops::Range;

use super::access::Resolved;
use super::arena::{Link, PathArena};
use crate::extent::Size;
use crate::oracle::limits::{Budget, Exhausted};
use crate::oracle::types::{Field, TypeIndex, Types};
use crate::table::{HashMap, HashSet, IndexMap, IndexSet};
use crate::type_set::TypeSet;

/// The types that contain an object of access `b`, computed on demand.
pub(super) struct Containing<'t> {
    types: &'t Types,
    b: Resolved,
    /// True if a type contains one, or is one.
    contains: HashMap<TypeIndex, bool>,
    /// The farthest such object below a type, in bytes of collapsed offset.
    farthest: HashMap<TypeIndex, Option<u128>>,
}

impl<'t> Containing<'t> {
    pub(super) fn new(types: &'t Types, b: Resolved) -> Self {
        Containing { types, b, contains: HashMap::default(), farthest: HashMap::default() }
    }

    /// Returns whether a type contains an object of `b`, or is one.
    pub(super) fn contains(
        &mut self,
        ty: TypeIndex,
        budget: &mut Budget,
    ) -> Result<bool, Exhausted> {
        let (types, b) = (self.types, self.b);
        if b.has_object(types, ty) {
            return Ok(true);
        }
        // Types whose fields are being looked at, and the next field of each.
        let mut open = vec![(ty, 0_usize)];
        while let Some((ty, next)) = open.pop() {
            if next == 0 && self.contains.contains_key(&ty) {
                continue;
            }
            budget.spend()?;
            let before = next.checked_sub(1).map(|at| types.fields(ty)[at].ty);
            let found = before.map_or(b.has_object(types, ty), |before| self.contains[&before]);
            let rest = types.fields(ty)[next..].iter();
            let looked = rest.take_while(|field| !types.may_hold(field.ty, b.base)).count();
            budget.look(looked)?;
            match types.fields(ty).get(next + looked).filter(|_| !found) {
                Some(field) => open.extend([(ty, next + looked + 1), (field.ty, 0)]),
                None => _ = self.contains.insert(ty, found),
            }
        }
        Ok(self.contains[&ty])
    }

    /// Returns the farthest object of `b` below a type, in bytes of collapsed offset.
    fn farthest(&mut self, ty: TypeIndex, budget: &mut Budget) -> Result<Option<u128>, Exhausted> {
        let types = self.types;
        if let Some(&known) = self.farthest.get(&ty) {
            return Ok(known);
        }
        let mut below = IndexSet::<TypeIndex>::from_iter([ty]);
        let mut next = 0;
        while let Some(&ty) = below.get_index(next) {
            next += 1;
            budget.spend()?;
            budget.look(types.fields(ty).len())?;
            let inside = types.fields(ty).iter().map(|field| field.ty);
            below.extend(inside.filter(|ty| !self.farthest.contains_key(ty)));
        }
        // A type inside another has a lower rank.
        below.sort_unstable_by_key(|&ty| types.get(ty).rank);
        for ty in below {
            let inside = types.fields(ty).iter().filter_map(|field| {
                let inside = self.farthest.get(&field.ty).copied().flatten()?;
                Some(u128::from(field.offset) + inside)
            });
            let farthest = inside.max().or(self.b.has_object(types, ty).then_some(0));
            self.farthest.insert(ty, farthest);
        }
        Ok(self.farthest.get(&ty).copied().flatten())
    }
}

/// A place on a path that a tag describes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Point {
    ty: TypeIndex,
    /// The rest of the tag's offset.
    rest: u64,
    /// Its index in [`Denoted`]; 0 on a walk.
    number: u32,
}

/// The places on the paths that a tag describes, its base type first, and for each the fields by
/// which a path continues and the places that they lead to.
#[derive(Clone, Debug)]
pub(super) struct Denoted {
    places: Box<[(TypeIndex, u64, Range<u32>)]>,
    ways: Box<[(u32, u32)]>,
    /// The types inside the members of overlapping aggregates that some path does not take.
    beside: TypeSet,
}

impl Denoted {
    /// Computes the paths of a tag; `None` if there is none.
    pub(super) fn new(
        types: &Types,
        access: &Resolved,
        budget: &mut Budget,
    ) -> Result<Option<Denoted>, Exhausted> {
        // A class without data does not count in `far`.
        let formed = types.get(access.access).format.is_some();
        let end = (access.access, 0);
        let mut open = vec![(access.base, access.offset)];
        // The places found, each with its predecessors.
        let mut found = IndexMap::<_, Vec<_>>::from_iter([(open[0], Vec::new())]);
        let next = |(ty, rest): (TypeIndex, u64)| {
            let fields = types.fields(ty).iter().enumerate().filter(move |_| (ty, rest) != end);
            fields.map_while(move |(number, field)| {
                Some((number as u32, (field.ty, rest.checked_sub(field.offset)?)))
            })
        };
        while let Some(place) = open.pop() {
            budget.spend()?;
            budget.look(types.fields(place.0).len())?;
            for (_, (ty, rest)) in next(place) {
                let in_reach = !formed || u128::from(rest) <= types.get(ty).far;
                if !in_reach || !types.may_hold(ty, access.access) {
                    continue;
                }
                budget.spend()?;
                let known = found.len();
                found.entry((ty, rest)).or_default().push(place);
                if found.len() > known {
                    open.push((ty, rest));
                }
            }
        }
        // The places from which the end can be reached, found backwards.
        let mut alive = HashSet::default();
        open.extend(found.contains_key(&end).then_some(end));
        while let Some(place) = open.pop() {
            if alive.insert(place) {
                open.extend(&found[&place]);
            }
        }
        if alive.is_empty() {
            return Ok(None);
        }
        let numbers: IndexSet<_> = found.into_keys().filter(|key| alive.contains(key)).collect();
        let mut ways = Vec::new();
        let place = |&place: &(TypeIndex, u64)| {
            let first = ways.len() as u32;
            ways.extend(
                next(place)
                    .filter_map(|(field, next)| Some((field, numbers.get_index_of(&next)? as u32))),
            );
            (place.0, place.1, first..ways.len() as u32)
        };
        let places: Box<[_]> = numbers.iter().map(place).collect();
        let mut beside = TypeSet::default();
        for (ty, _, Range { start, end }) in &places {
            let taken = &ways[*start as usize..*end as usize];
            let members = types.fields(*ty).iter().filter(|_| types.get(*ty).overlapping);
            for (at, member) in members.enumerate() {
                if taken.len() != 1 || taken[0].0 as usize != at {
                    beside = beside.union(types.inside(member.ty));
                }
            }
        }
        Ok(Some(Denoted { places, ways: ways.into(), beside }))
    }

    /// Number of places.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    fn place(&self, number: u32) -> Point {
        let (ty, rest, _) = self.places[number as usize];
        Point { ty, rest, number }
    }
}

/// An access, and the paths of its tag; `None` for a regular tag, which has a single path.
pub(super) type Side<'d> = (Resolved, Option<&'d Denoted>);

fn start((access, _): Side<'_>) -> Point {
    Point { ty: access.base, rest: access.offset, number: 0 }
}

fn is_end((access, _): Side<'_>, place: Point) -> bool {
    (place.ty, place.rest) == (access.access, 0)
}

/// Returns the fields by which a path continues, and the places that they lead to.
fn fields<'t>(
    types: &'t Types,
    (_, denoted): Side<'t>,
    place: Point,
) -> impl Iterator<Item = (usize, &'t Field, Point)> {
    let all = types.fields(place.ty);
    let walk = match denoted {
        None => types.field_at(place.ty, place.rest),
        Some(_) => None,
    };
    let on_walk = walk.into_iter().map(move |at| {
        let field = &all[at];
        (at, field, Point { ty: field.ty, rest: place.rest - field.offset, number: 0 })
    });
    let ways = denoted.into_iter().flat_map(move |denoted| {
        let Range { start, end } = denoted.places[place.number as usize].2;
        let ways = denoted.ways[start as usize..end as usize].iter();
        ways.map(move |&(at, next)| (at as usize, &all[at as usize], denoted.place(next)))
    });
    on_walk.chain(ways)
}

/// Returns whether two accesses may alias, given that the second's base is inside the first's or
/// equal to it, if this can be decided while each has only one path: both from one place, or as
/// soon as the first passes a member that is an object of the second. This decides most pairs.
pub(super) fn at_once(types: &Types, (a, b): (Side<'_>, Side<'_>), strict: bool) -> Option<bool> {
    if a.0.size.is_some() || b.0.size.is_some() {
        return None;
    }
    let next = |side: Side<'_>, place: Point| {
        let mut ways = fields(types, side, place);
        let (number, _, next) = ways.next().filter(|_| !is_end(side, place))?;
        Some((number, next, ways.next().is_none()))
    };
    let (mut p, mut beside) = (start(a), false);
    while p.ty != b.0.base {
        let (number, inside, alone) = next(a, p)?;
        if types.get(p.ty).overlapping && !strict {
            let mut members = types.fields(p.ty).iter().enumerate();
            beside = true;
            if members.any(|(at, it)| !(alone && at == number) && b.0.has_object(types, it.ty)) {
                return Some(true);
            }
        }
        p = Some(inside).filter(|_| alone)?;
    }
    let mut r = start(b);
    loop {
        let ((ours, inside, alone), (theirs, their_inside, both)) = (next(a, p)?, next(b, r)?);
        match types.get(p.ty).overlapping {
            true if !(alone && both && ours == theirs) => return Some(true),
            _ if !(alone && both) => return None,
            // Different members are apart. If an overlapping type was passed, another member of it
            // may still contain an object, so this is undecided.
            _ if ours != theirs => return Some(false).filter(|_| !beside),
            _ => (p, r) = (inside, their_inside),
        }
    }
}

/// Three paths: p from the outer base, q from there to an object of the other
/// access, and r from that object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paths {
    pub(super) p: Link,
    pub(super) q: Link,
    pub(super) r: Link,
}

/// The result of the search.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    /// The paths never part, or part where slots meet.
    Meet(Paths),
    /// All paths part where slots do not meet, if there are paths; with an example, if one is
    /// requested.
    Apart(Option<Paths>),
    /// No object of the other access lies in this one's base.
    Nothing,
}

/// The place of p, and that of r once q has ended.
type Pair = (Point, Option<Point>);

/// Looks for objects of `b` from `a.base` whose slots meet those of `a`.
pub(super) struct Search<'s> {
    types: &'s Types,
    a: Side<'s>,
    b: Side<'s>,
    strict: bool,
    objects: Containing<'s>,
    /// The places that p, and q or r, have reached without parting. The last one is stored apart:
    /// most searches have one place at a time, and allocate nothing.
    last: Option<(Pair, Paths)>,
    open: Vec<(Pair, Paths)>,
    /// The first places seen; `many` has the others.
    few: [Option<Pair>; 4],
    many: HashSet<Pair>,
    apart: Option<Paths>,
    arena: &'s mut PathArena,
    budget: &'s mut Budget,
}

impl<'s> Search<'s> {
    pub(super) fn new(
        types: &'s Types,
        (a, b): (Side<'s>, Side<'s>),
        strict: bool,
        arena: &'s mut PathArena,
        budget: &'s mut Budget,
    ) -> Self {
        let objects = Containing::new(types, b.0);
        let (last, open, few, many, apart) = Default::default();
        Search { types, a, b, strict, objects, last, open, few, many, apart, arena, budget }
    }

    pub(super) fn run(mut self) -> Result<Found, Exhausted> {
        let outer = self.a.0.base;
        if self.arena.asked && !self.objects.contains(outer, self.budget)? {
            return Ok(Found::Nothing);
        }
        let paths = Paths { p: Link::START, q: Link::START, r: Link::START };
        self.push(start(self.a), None, paths);
        while let Some(((p, r), paths)) = self.last.take().or_else(|| self.open.pop()) {
            self.budget.spend()?;
            let met = match r {
                None => self.together(p, paths)?,
                Some(r) => self.inside(p, r, paths)?,
            };
            if let Some(paths) = met {
                return Ok(Found::Meet(paths));
            }
        }
        Ok(Found::Apart(self.apart))
    }

    fn push(&mut self, p: Point, r: Option<Point>, paths: Paths) {
        let pair = (p, r);
        let new = match self.few.iter_mut().find(|seen| seen.is_none_or(|seen| seen == pair)) {
            Some(seen) => seen.replace(pair).is_none(),
            None => self.many.insert(pair),
        };
        if new {
            self.open.extend(self.last.replace((pair, paths)));
        }
    }

    /// p and q have reached one place. Returns paths that meet.
    fn together(&mut self, p: Point, paths: Paths) -> Result<Option<Paths>, Exhausted> {
        let (types, (b, _)) = (self.types, self.b);
        if b.has_object(types, p.ty) {
            if b.is_whole() {
                // r is empty, so p continues where q and r have ended.
                let of_p = self.finish(self.a, p, paths.p);
                return Ok(Some(Paths { p: of_p, ..paths }));
            }
            let paths = Paths { q: paths.p, r: Link::START, ..paths };
            self.push(p, Some(start(self.b)), paths);
        }
        if is_end(self.a, p) && self.objects.contains(p.ty, self.budget)? {
            return Ok(Some(self.finish_q(p.ty, Paths { q: paths.p, ..paths })));
        }
        let overlapping = types.get(p.ty).overlapping;
        // Only an access that extends past its slot meets another field of a plain aggregate.
        let slots = |side: Side<'_>| side.0.size.is_none();
        let keeps = !overlapping && slots(self.a) && slots(self.b);
        let beside = || self.a.1.is_none_or(|denoted| denoted.beside.may_have(b.base));
        let parts = match overlapping {
            true => !self.strict && beside(),
            false => !keeps || self.arena.asked,
        };
        for (number, field, inside) in fields(types, self.a, p) {
            self.budget.spend()?;
            if types.may_hold(field.ty, b.base) {
                let link = self.arena.step(paths.p, p.ty, number);
                self.push(inside, None, Paths { p: link, ..paths });
            }
            if parts && let Some(met) = self.part((p, number, inside), paths)? {
                return Ok(Some(met));
            }
        }
        Ok(None)
    }

    /// p continues from a place by one field, and q by another. Returns paths that meet.
    fn part(
        &mut self,
        (from, number, inside): (Point, usize, Point),
        paths: Paths,
    ) -> Result<Option<Paths>, Exhausted> {
        let (types, (b, _)) = (self.types, self.b);
        let fields = types.fields(from.ty);
        self.budget.look(fields.len())?;
        for (other, field) in fields.iter().enumerate() {
            if other == number
                || !types.may_hold(field.ty, b.base)
                || !self.objects.contains(field.ty, self.budget)?
            {
                continue;
            }
            self.budget.spend()?;
            // The farthest place in this type at which b can start.
            let start =
                u128::from(field.offset) + self.farthest_object(field.ty)? + u128::from(b.offset);
            let ours = (&fields[number], from.rest.into());
            let meet = self.slots_meet(from.ty, ours, (field, start));
            if meet || self.apart.is_none() && self.arena.asked {
                let p = self.arena.step(paths.p, from.ty, number);
                let p = self.finish(self.a, inside, p);
                let q = self.arena.step(paths.p, from.ty, other);
                let paths = self.finish_q(field.ty, Paths { p, q, ..paths });
                if meet {
                    return Ok(Some(paths));
                }
                self.apart = Some(paths);
            }
        }
        Ok(None)
    }

    /// q has ended; p and r have reached one type. Returns paths that meet.
    fn inside(&mut self, p: Point, r: Point, paths: Paths) -> Result<Option<Paths>, Exhausted> {
        let (types, a, b) = (self.types, self.a, self.b);
        if is_end(a, p) || is_end(b, r) {
            return Ok(Some(self.finish_both(p, r, paths)));
        }
        for (number, field, next) in fields(types, a, p) {
            for (other, their_field, their_next) in fields(types, b, r) {
                self.budget.spend()?;
                let same = number == other;
                let meet = !same
                    && self.slots_meet(p.ty, (field, p.rest.into()), (their_field, r.rest.into()));
                if !same && !meet && (self.apart.is_some() || !self.arena.asked) {
                    continue;
                }
                let of_p = self.arena.step(paths.p, p.ty, number);
                let of_r = self.arena.step(paths.r, r.ty, other);
                let paths = Paths { p: of_p, r: of_r, ..paths };
                if same {
                    self.push(next, Some(their_next), paths);
                    continue;
                }
                let paths = self.finish_both(next, their_next, paths);
                if meet {
                    return Ok(Some(paths));
                }
                self.apart = Some(paths);
            }
        }
        Ok(None)
    }

    /// Returns the greatest distance from the start of a type to an object of b. It only matters if
    /// an access may be larger than its slot.
    fn farthest_object(&mut self, ty: TypeIndex) -> Result<u128, Exhausted> {
        let sizes = [self.a.0.size, self.b.0.size];
        if sizes.iter().all(|size| !matches!(size, Some(Size::Bytes(_)))) {
            return Ok(0);
        }
        Ok(self.objects.farthest(ty, self.budget)?.unwrap_or(0))
    }

    /// Returns whether the slots of two fields of `ty` meet. Each field comes with the start of its
    /// access, in bytes from the start of `ty`.
    fn slots_meet(&self, ty: TypeIndex, ours: (&Field, u128), theirs: (&Field, u128)) -> bool {
        if self.types.get(ty).overlapping {
            return true;
        }
        // An access with a size of its own may extend into the next field.
        let (a, b) = ((ours, self.a.0.size), (theirs, self.b.0.size));
        let (((field, start), size), ((after, _), _)) =
            if ours.0.offset < theirs.0.offset { (a, b) } else { (b, a) };
        let fields = self.types.fields(ty);
        let next = fields.partition_point(|other| other.offset <= field.offset);
        // The access may be to an array element of any size, and so begin at any byte of the slot.
        let last = fields.get(next).map_or(0, |next| u128::from(next.offset) - 1).max(start);
        match size {
            None => false,
            Some(Size::Bytes(size)) => last + u128::from(size) > u128::from(after.offset),
            Some(Size::Unknown) => true,
        }
    }

    /// Continues from a place on a path to its end.
    fn finish(&mut self, side: Side<'_>, mut place: Point, mut link: Link) -> Link {
        while self.arena.asked
            && !is_end(side, place)
            && let Some((number, _, next)) = fields(self.types, side, place).next()
        {
            link = self.arena.step(link, place.ty, number);
            place = next;
        }
        link
    }

    fn finish_both(&mut self, p: Point, r: Point, paths: Paths) -> Paths {
        let p = self.finish(self.a, p, paths.p);
        Paths { p, r: self.finish(self.b, r, paths.r), ..paths }
    }

    /// Continues to the first object, and from there along some r.
    fn finish_q(&mut self, mut ty: TypeIndex, mut paths: Paths) -> Paths {
        let b = self.b.0;
        while self.arena.asked && !b.has_object(self.types, ty) {
            let fields = self.types.fields(ty);
            // The search for the object has stored the way to it in `contains`.
            let to_object = |field: &Field| self.objects.contains.get(&field.ty) == Some(&true);
            let Some(number) = fields.iter().position(to_object) else { break };
            paths.q = self.arena.step(paths.q, ty, number);
            ty = fields[number].ty;
        }
        paths.r = self.finish(self.b, start(self.b), Link::START);
        paths
    }
}

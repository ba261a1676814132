//! The search for overlapping paths in the old format, which has no sizes.
//!
//! p is a path of one access (the *outer*) from its base type. q leads from the same base type to
//! an object of the other access (the *inner*), and r is a path of the inner one from that object.
//! If two paths choose different fields, the *slots* of these fields decide. In a *plain*
//! aggregate, fields begin at different offsets, and a slot ends where the next field begins. In
//! other aggregates, all slots overlap. The search follows two paths at a time: p and q, and after
//! q's end p and r.

use std::ops::Range;

use super::access::Resolved;
use super::arena::{Link, PathArena};
use crate::extent::Size;
use crate::oracle::limits::{Budget, Exhausted};
use crate::oracle::types::{Field, TypeIndex, Types};
use crate::table::{HashMap, HashSet, IndexMap, IndexSet};
use crate::type_set::TypeSet;

/// The types that contain an object of `b` ([`Resolved::has_object`]), computed when needed.
pub(super) struct Containing<'t> {
    types: &'t Types,
    b: Resolved,
    /// True for a type that contains such an object or is the type of one.
    contains: HashMap<TypeIndex, bool>,
    /// The largest offset of such an object inside a type, in bytes, with all array indices 0.
    farthest: HashMap<TypeIndex, Option<u128>>,
}

impl<'t> Containing<'t> {
    pub(super) fn new(types: &'t Types, b: Resolved) -> Self {
        Containing { types, b, contains: HashMap::default(), farthest: HashMap::default() }
    }

    /// Returns whether a type contains an object of `b` or is the type of one.
    pub(super) fn contains(
        &mut self,
        ty: TypeIndex,
        budget: &mut Budget,
    ) -> Result<bool, Exhausted> {
        let (types, b) = (self.types, self.b);
        if b.has_object(types, ty) {
            return Ok(true);
        }
        // Types whose fields are being visited, and the next field to visit for each.
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

    /// Returns the largest offset of an object of `b` in a type, with all array indices 0.
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
        // A type has a lower rank than those that contain it.
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

/// A position on a path of a tag.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Point {
    ty: TypeIndex,
    /// The tag's offset, minus the offsets of the fields on the path up to here.
    rest: u64,
    /// The index in [`Denoted::places`], or 0 if there is only one path (see [`Side`]).
    number: u32,
}

/// The positions on the paths of a tag, beginning with its base type. Each has a range of `ways`:
/// the fields by which a path continues, and the positions to which they lead.
#[derive(Clone, Debug)]
pub(super) struct Denoted {
    places: Box<[(TypeIndex, u64, Range<u32>)]>,
    ways: Box<[(u32, u32)]>,
    /// The types inside members that some path does not take, in aggregates that are not plain.
    beside: TypeSet,
}

impl Denoted {
    /// Computes the paths of a tag. Returns `None` if there are none.
    pub(super) fn new(
        types: &Types,
        access: &Resolved,
        budget: &mut Budget,
    ) -> Result<Option<Denoted>, Exhausted> {
        // `far` ignores classes without data, so it is no limit if such a class is accessed.
        let formed = types.get(access.access).format.is_some();
        let end = (access.access, 0);
        let mut open = vec![(access.base, access.offset)];
        // The positions found, and for each the positions that lead to it.
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
        // The positions from which the end can be reached, found by searching backwards.
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

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    fn place(&self, number: u32) -> Point {
        let (ty, rest, _) = self.places[number as usize];
        Point { ty, rest, number }
    }
}

/// An access and its tag's paths. `None` means one path, with fields that no other fields overlap.
pub(super) type Side<'d> = (Resolved, Option<&'d Denoted>);

fn start((access, _): Side<'_>) -> Point {
    Point { ty: access.base, rest: access.offset, number: 0 }
}

fn is_end((access, _): Side<'_>, place: Point) -> bool {
    (place.ty, place.rest) == (access.access, 0)
}

/// Returns the fields by which a path continues, and the positions to which they lead.
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

/// Decides a query, or returns `None` if this needs a search. `b` is the inner access.
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
            // Fields of a plain aggregate are apart. But if an aggregate that is not plain was
            // passed, another of its members may contain an object of `b`: this is undecided.
            _ if ours != theirs => return Some(false).filter(|_| !beside),
            _ => (p, r) = (inside, their_inside),
        }
    }
}

/// Three paths: p and q start at the outer base type. q leads to an object of the inner access, and
/// r starts at that object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paths {
    pub(super) p: Link,
    pub(super) q: Link,
    pub(super) r: Link,
}

/// The result of the search for objects of `b`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    /// The paths always choose the same fields, or separate at fields whose slots overlap.
    Meet(Paths),
    /// The slots at which the paths separate never overlap. Contains an example of such paths, if
    /// it is requested and there is one.
    Apart(Option<Paths>),
    /// The base type of `a` contains no object of `b`. Only returned if paths are requested.
    Nothing,
}

/// The position of p, and that of r if q has ended.
type Pair = (Point, Option<Point>);

/// Searches the base type of `a` for objects in which the access `b` may overlap `a`.
pub(super) struct Search<'s> {
    types: &'s Types,
    a: Side<'s>,
    b: Side<'s>,
    strict: bool,
    objects: Containing<'s>,
    /// The pair to continue from. `open` has the others. Most searches have only one pair at a
    /// time, and then allocate nothing.
    last: Option<(Pair, Paths)>,
    open: Vec<(Pair, Paths)>,
    /// The first pairs seen. `many` contains the others.
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

    /// Continues after p and q have reached the same position. Returns paths that overlap, if any.
    fn together(&mut self, p: Point, paths: Paths) -> Result<Option<Paths>, Exhausted> {
        let (types, (b, _)) = (self.types, self.b);
        if b.has_object(types, p.ty) {
            if b.is_whole() {
                // r is empty, so p may continue after q and r have ended.
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
        // In a plain aggregate, fields overlap only if an access extends past its slot.
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

    /// Continues p by one field, and q by each of the others. Returns paths that overlap, if any.
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
            // The largest offset in `from.ty` at which b can begin.
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

    /// Continues after p and r have reached the same type. Returns paths that overlap, if any.
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

    /// Returns the largest offset of an object of b in a type, or 0 if no access has a size in
    /// bytes, because then the offset does not matter.
    fn farthest_object(&mut self, ty: TypeIndex) -> Result<u128, Exhausted> {
        let sizes = [self.a.0.size, self.b.0.size];
        if sizes.iter().all(|size| !matches!(size, Some(Size::Bytes(_)))) {
            return Ok(0);
        }
        Ok(self.objects.farthest(ty, self.budget)?.unwrap_or(0))
    }

    /// Returns whether accesses in two fields of `ty` may overlap. Each field is given with the
    /// offset at which its access begins, in bytes from the start of `ty`.
    fn slots_meet(&self, ty: TypeIndex, ours: (&Field, u128), theirs: (&Field, u128)) -> bool {
        if self.types.get(ty).overlapping {
            return true;
        }
        // An access that has its own size may extend into the next field.
        let (a, b) = ((ours, self.a.0.size), (theirs, self.b.0.size));
        let (((field, start), size), ((after, _), _)) =
            if ours.0.offset < theirs.0.offset { (a, b) } else { (b, a) };
        let fields = self.types.fields(ty);
        let next = fields.partition_point(|other| other.offset <= field.offset);
        // The access may be to an element of an array, and so may begin at any byte of the slot.
        let last = fields.get(next).map_or(0, |next| u128::from(next.offset) - 1).max(start);
        match size {
            None => false,
            Some(Size::Bytes(size)) => last + u128::from(size) > u128::from(after.offset),
            Some(Size::Unknown) => true,
        }
    }

    /// Extends a path from a position to the path's end.
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

    /// Extends q to an object of b, and makes r one of the paths of b.
    fn finish_q(&mut self, mut ty: TypeIndex, mut paths: Paths) -> Paths {
        let b = self.b.0;
        while self.arena.asked && !b.has_object(self.types, ty) {
            let fields = self.types.fields(ty);
            // The search for the object has stored in `contains` which types lead to it.
            let to_object = |field: &Field| self.objects.contains.get(&field.ty) == Some(&true);
            let Some(number) = fields.iter().position(to_object) else { break };
            paths.q = self.arena.step(paths.q, ty, number);
            ty = fields[number].ty;
        }
        paths.r = self.finish(self.b, start(self.b), Link::START);
        paths
    }
}

//! Confirms a `NoAlias` of the union rules from its proof: reads the types by
//! itself, has arithmetic of its own, and shares no code with the oracle. That
//! the types are well formed is taken for granted.

use std::collections::{BTreeMap, HashMap, HashSet};

use indexmap::IndexSet;
use tbaa::proof::{Apart, Denoted, Direction, Gap, Inside, Proof};
use tbaa::{Access, ByteRange, Elements, Format, Graph, TypeId, TypeKind};

/// Stands for "without end".
const END: i128 = 1 << 100;

type Verdict<T = ()> = Result<T, &'static str>;

fn ensure(holds: bool, otherwise: &'static str) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise) }
}

struct Type {
    root: bool,
    old: bool,
    size: i128,
    parent: Option<usize>,
    /// Type, offset, extent.
    fields: Vec<(usize, i128, i128)>,
}

struct Of {
    base: usize,
    access: usize,
    offset: i128,
    size: Option<i128>,
    format: Format,
}

/// Arrays by stride, with the number of the last element.
type Arrays = BTreeMap<i128, i128>;

fn add(arrays: &mut Arrays, more: impl IntoIterator<Item = (i128, i128)>) {
    for (step, last) in more.into_iter().filter(|(_, last)| *last != 0) {
        let sum = arrays.entry(step).or_default();
        *sum = (*sum + last).min(END);
    }
}

fn last(elements: &Elements) -> i128 {
    elements.count.map_or(END, |count| i128::from(count) - 1)
}

fn span<'a>(arrays: impl IntoIterator<Item = (&'a i128, &'a i128)>) -> i128 {
    arrays.into_iter().map(|(step, last)| step.saturating_mul(*last).min(END)).sum()
}

/// Start, length, and where they are repeated.
type Bytes = (i128, i128, Arrays);

fn bytes(range: &ByteRange) -> Bytes {
    let len = range.end.map_or(END, |end| i128::from(end) - i128::from(range.start));
    let arrays = range.repeats.iter().map(|e| (e.stride.into(), last(e))).collect();
    (range.start.into(), len, arrays)
}

/// An array of the first range or the second, its position there, step and last.
type Sided = (bool, usize, i128, i128);

fn apart(at: i128, arrays: &[Sided], (from, to): (i128, i128), why: &Apart) -> bool {
    match why {
        Apart::Residue { modulus, residue, window } => {
            let m = i128::from(*modulus);
            let span = |second, multiple| {
                let counts = |a: &&Sided| a.0 == second && (a.2 % m == 0) == multiple;
                span(arrays.iter().filter(counts).map(|(_, _, step, last)| (step, last)))
            };
            if m == 0 || at.rem_euclid(m) != i128::from(*residue) {
                return false;
            }
            let from = (from - span(true, false)).max(at - span(false, true));
            let to = (to + span(false, false)).min(at + span(true, true));
            let said = [(window.0, from), (window.1, to)];
            said.iter().all(|(said, is)| said.is_none_or(|said| said == *is))
                && from + (at - from).rem_euclid(m) > to
        }
        Apart::Cases { second, array, runs } => {
            let (mut cases, mut next) = (arrays.to_vec(), 0);
            let Some(of) = cases.iter().position(|a| (a.0, a.1) == (*second, *array)) else {
                return false;
            };
            let (.., step, last) = cases[of];
            let each = runs.iter().all(|(count, why)| {
                let moved = step.saturating_mul(next).min(END);
                next = count.map_or(last + 1, |count| next + i128::from(count));
                cases[of].3 = next - 1 - if moved == 0 { 0 } else { moved / step };
                let at = if *second { at + moved } else { at - moved };
                cases[of].3 >= 0 && apart(at, &cases, (from, to), why)
            });
            each && next > last
        }
        _ => false,
    }
}

fn holds(Gap { outer, inner, apart: why, .. }: &Gap) -> bool {
    let sided = |side, range: &ByteRange| -> Vec<Sided> {
        let numbered = range.repeats.iter().enumerate();
        numbered.map(|(at, e)| (side, at, e.stride.into(), last(e))).collect()
    };
    let (p, r) = (bytes(outer), bytes(inner));
    apart(r.0 - p.0, &[sided(false, outer), sided(true, inner)].concat(), (1 - r.1, p.1 - 1), why)
}

/// A place on the way to something.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Place {
    ty: usize,
    /// What a flexible array in the type may take; what the field holds.
    slot: i128,
    len: i128,
    /// Without elements, and as the tag's offset counts.
    collapsed: i128,
    offset: i128,
    /// The innermost array, and where it ends.
    inner: Option<(i128, i128)>,
    end: i128,
    outer: Arrays,
    /// Where an object of the other access was passed.
    object: Option<(i128, Arrays)>,
}

/// How far targets lie below a type, without elements and with them.
type Far = HashMap<usize, (i128, i128)>;

/// Compares the bytes of an access with those of another's objects at `at`.
fn compare(
    gaps: &[(Bytes, Bytes)],
    p: &[Bytes],
    r: &[Bytes],
    at: i128,
    arrays: &Arrays,
) -> Verdict {
    let covers = |more: &Bytes, less: &Bytes| {
        let within = |(step, last): (&i128, &i128)| more.2.get(step).is_some_and(|m| m >= last);
        more.0 == less.0 && more.1 >= less.1 && less.2.iter().all(within)
    };
    for (p, r) in p.iter().flat_map(|p| r.iter().map(move |r| (p, r))) {
        let mut r = (r.0 + at, r.1, r.2.clone());
        add(&mut r.2, arrays.clone());
        let beyond = p.0 + p.1 + span(&p.2) <= r.0 || r.0 + r.1 + span(&r.2) <= p.0;
        let mut listed = gaps.iter().filter(|gap| covers(&gap.0, p) && covers(&gap.1, &r));
        ensure(beyond || listed.next().is_some(), "two byte ranges are not listed")?;
    }
    Ok(())
}

/// Confirms proofs about the types of one graph.
pub struct Checker<'g>(&'g Graph, HashMap<usize, Type>);

impl<'g> Checker<'g> {
    pub fn new(graph: &'g Graph) -> Self {
        let index = |ty: TypeId| ty.node().index();
        let read = |ty: TypeId| {
            let (node, kind) = (graph.ty(ty), graph.ty(ty).kind());
            let old = node.format() == Format::Old;
            let has_parent = kind == TypeKind::Scalar || kind == TypeKind::Aggregate && !old;
            let parent = node.parent().filter(|_| has_parent).map(index);
            let field = |f: tbaa::Field| {
                (index(f.ty), f.offset.into(), f.extent.unwrap_or_default().into())
            };
            let fields = match kind {
                TypeKind::Scalar if old => parent.iter().map(|&up| (up, 0, 0)).collect(),
                _ => node.fields().map(field).collect(),
            };
            let size = node.size().unwrap_or_default().into();
            Type { root: kind == TypeKind::Root, old, size, parent, fields }
        };
        Checker(graph, graph.types().map(|ty| (index(ty), read(ty))).collect())
    }

    fn is_above(&self, upper: usize, ty: usize) -> bool {
        std::iter::successors(Some(ty), |ty| self.1[ty].parent).any(|ty| ty == upper)
    }

    fn root(&self, mut ty: usize) -> usize {
        let data = |ty: usize| self.1[&ty].fields.iter().map(|f| f.0).find(|ty| !self.1[ty].root);
        while let Some(up) = self.1[&ty].parent.or_else(|| data(ty)) {
            ty = up;
        }
        ty
    }

    fn read(&self, access: Access) -> Verdict<Of> {
        let tag = access.tag.and_then(|tag| self.0.tag(tag).ok()).ok_or("no tag")?;
        let size = access.size.or(tag.size).filter(|&size| size != 0 && size != u64::MAX);
        let [base, access] = [tag.base, tag.access].map(|ty| ty.node().index());
        let of = if self.1[&access].root { base } else { access };
        let format = if self.1[&of].old { Format::Old } else { Format::New };
        let size = size.map(i128::from);
        Ok(Of { base, access, offset: tag.offset.into(), size, format })
    }

    /// Whether a type is an object of an access.
    fn is_object(&self, of: &Of, ty: usize) -> bool {
        ty == of.base || of.base == of.access && self.is_above(of.base, ty)
    }

    /// Confirms that two accesses do not alias by rule `union`, or if `strict` by
    /// rule `union-strict`; or says what is wrong.
    pub fn confirm(&self, strict: bool, a: Access, b: Access, proof: &Proof) -> Verdict {
        let (of_a, of_b) = (self.read(a)?, self.read(b)?);
        let general = |a: &Of, b: &Of| a.base == a.access && self.is_above(a.access, b.access);
        ensure(a.tag != b.tag && of_a.format == of_b.format, "one tag, or two formats")?;
        ensure(self.root(of_a.access) == self.root(of_b.access), "two roots")?;
        ensure(!general(&of_a, &of_b) && !general(&of_b, &of_a), "one covers the other")?;
        ensure(strict || !proof.strict, "a proof by the other rule")?;
        let [a, b] = [(&of_a, &proof.denoted[0]), (&of_b, &proof.denoted[1])];
        let sides = [(a, b), (b, a)].into_iter().zip(&proof.directions);
        sides.into_iter().try_for_each(|((outer, inner), direction)| match of_a.format {
            Format::New => self.sized(proof.strict, outer, inner, direction),
            Format::Old => self.inferred(proof.strict, outer, inner, direction),
        })
    }

    /// Checks what is said of the types below `base`.
    fn inside(&self, list: &[Inside], base: usize, target: impl Fn(usize) -> bool) -> Verdict<Far> {
        let bound = |bytes: Option<u64>| bytes.map_or(END << 8, i128::from);
        let far: Far =
            list.iter().map(|i| (i.ty, (bound(i.collapsed), bound(i.displaced)))).collect();
        let (mut seen, mut left) = (HashSet::from([base]), vec![base]);
        while let Some(ty) = left.pop() {
            let of = far.get(&ty);
            ensure(of.is_some() || !target(ty), "a target is not listed")?;
            for field in &self.1[&ty].fields {
                if let Some(inner) = far.get(&field.0) {
                    let last =
                        self.array(field, END).map_or(0, |(step, last, _)| span([(&step, &last)]));
                    let whole = (field.1 + last + inner.1).min(END);
                    let enough =
                        of.is_some_and(|of| of.0 >= (field.1 + inner.0).min(END) && of.1 >= whole);
                    ensure(enough, "a type that contains a target is not listed")?;
                }
                left.extend(seen.insert(field.0).then_some(field.0));
            }
        }
        Ok(far)
    }

    /// Step, last and extent of an array field in a type that has `slot` bytes.
    fn array(&self, field: &(usize, i128, i128), slot: i128) -> Option<(i128, i128, i128)> {
        let &(ty, offset, extent) = field;
        let size = self.1[&ty].size;
        let room = if slot == END || slot <= offset { END } else { slot - offset };
        let whole = if extent == 0 { room } else { extent };
        let last = if whole == END { END } else { (whole - 1) / size.max(1) };
        (size != 0 && (extent == 0 || extent > size)).then_some((size, last, whole))
    }

    fn start(&self, ty: usize) -> Place {
        let (collapsed, offset, len, outer) = (0, 0, self.1[&ty].size, Arrays::new());
        Place { ty, slot: END, len, collapsed, offset, inner: None, end: END, outer, object: None }
    }

    /// Returns all places from `start` on that are to be kept. If `goal` is an
    /// offset, it counts elements.
    fn walk(
        &self,
        start: Place,
        goal: Option<i128>,
        passed: Option<&Of>,
        keep: impl Fn(&Place) -> bool,
    ) -> Vec<Place> {
        let mut seen = IndexSet::from([start]);
        let mut at = 0;
        while let Some(place) = seen.get_index(at).cloned() {
            at += 1;
            let mut arrays = place.outer.clone();
            add(&mut arrays, place.inner);
            if place.object.is_none() && passed.is_some_and(|of| self.is_object(of, place.ty)) {
                let object = Some((place.collapsed, arrays.clone()));
                seen.insert(Place { object, ..place.clone() });
            }
            for field in &self.1[&place.ty].fields {
                let &(ty, offset, extent) = field;
                let array = self.array(field, place.slot);
                let flexible = |f: &(usize, _, i128)| f.2 == 0 && self.1[&f.0].size != 0;
                let flexible = self.1[&ty].fields.iter().any(flexible);
                let begin = place.offset + offset;
                let mut next = Place {
                    ty,
                    offset: begin,
                    collapsed: place.collapsed + offset,
                    ..place.clone()
                };
                next.slot = if !flexible { END } else { array.map_or(extent, |array| array.0) };
                next.len = if self.1[&ty].size == 0 { 0 } else { array.map_or(extent, |_| END) };
                if let Some((step, last, whole)) = array {
                    next.end = if whole == END { END } else { begin + whole };
                    next.outer = arrays.clone();
                    next.inner = Some((step, last));
                }
                let (step, last, _) = array.filter(|_| goal.is_some()).unwrap_or((1, 0, 0));
                let most = goal.map_or(0, |goal| (goal - begin).div_euclid(step).min(last));
                let moved = (0..=most).map(|e| Place { offset: begin + e * step, ..next.clone() });
                seen.extend(moved.filter(&keep));
            }
        }
        seen.into_iter().collect()
    }

    /// Returns the ends of the paths that an access denotes, with their bytes.
    fn ends(
        &self,
        of: &Of,
        denoted: &Denoted,
        passed: Option<&Of>,
    ) -> Verdict<Vec<(Place, Vec<Bytes>)>> {
        let far = self.inside(&denoted.inside, of.base, |ty| ty == of.access)?;
        for goal in [None, Some(of.offset)] {
            let near = |place: &Place| {
                let far = far.get(&place.ty).map(|far| if goal.is_some() { far.1 } else { far.0 });
                let left = of.offset - place.offset;
                left >= 0 && far.is_some_and(|far| left <= far)
            };
            let mut places = self.walk(self.start(of.base), goal, passed, near);
            places.retain(|place| place.ty == of.access && place.offset == of.offset);
            if !places.is_empty() {
                let end = |place: Place| (place.clone(), self.bytes(of, &place, goal.is_none()));
                return Ok(places.into_iter().map(end).collect());
            }
        }
        Err("a tag denotes nothing")
    }

    /// The bytes of an access at the end of a denoted path.
    fn bytes(&self, of: &Of, place: &Place, folded: bool) -> Vec<Bytes> {
        let len = of.size.unwrap_or(place.len);
        let room = if place.end == END { END } else { place.end - place.offset };
        let outer = if folded { place.outer.clone() } else { Arrays::new() };
        let (step, last) = place.inner.filter(|_| folded).unwrap_or((1, 0));
        // Elements before the first that is cut.
        let whole = if room == END {
            last + 1
        } else if room < len {
            0
        } else {
            last.min((room - len) / step) + 1
        };
        let mut repeated = outer.clone();
        add(&mut repeated, [(step, whole - 1)]);
        let cut = (place.offset + whole * step, room - whole * step, outer);
        let mut found = vec![];
        found.extend((whole > 0).then_some((place.offset, len, repeated)));
        found.extend((whole <= last).then_some(cut));
        found.retain(|bytes: &Bytes| bytes.1 > 0 && len > 0);
        found
    }

    /// Follows the objects of one access in the other's base type; sizes known.
    fn sized(
        &self,
        strict: bool,
        p: (&Of, &Denoted),
        r: (&Of, &Denoted),
        direction: &Direction,
    ) -> Verdict {
        ensure(direction.gaps.iter().all(holds), "bytes that are said to part do not")?;
        let gaps: Vec<_> =
            direction.gaps.iter().map(|gap| (bytes(&gap.outer), bytes(&gap.inner))).collect();
        let holding = self.inside(&direction.inside, p.0.base, |ty| self.is_object(r.0, ty))?;
        let r_bytes: Vec<Bytes> =
            self.ends(r.0, r.1, None)?.into_iter().flat_map(|end| end.1).collect();
        let mut ends = self.ends(p.0, p.1, strict.then_some(r.0))?;
        if !strict {
            let all = ends.iter().flat_map(|end| end.1.clone()).collect();
            ends = vec![(self.start(p.0.base), all)];
        }
        for (end, bytes) in ends {
            if let Some((at, arrays)) = &end.object {
                compare(&gaps, &bytes, &r_bytes, *at, arrays)?;
                continue;
            }
            let start = Place { offset: end.collapsed, ..end };
            let keep = |place: &Place| holding.contains_key(&place.ty);
            for q in self.walk(start, None, None, keep).iter().filter(|q| self.is_object(r.0, q.ty))
            {
                let mut arrays = q.outer.clone();
                add(&mut arrays, q.inner);
                compare(&gaps, &bytes, &r_bytes, q.offset, &arrays)?;
            }
        }
        Ok(())
    }

    /// Follows the paths of both side by side; sizes unknown.
    fn inferred(
        &self,
        strict: bool,
        p: (&Of, &Denoted),
        r: (&Of, &Denoted),
        direction: &Direction,
    ) -> Verdict {
        let holding = self.inside(&direction.inside, p.0.base, |ty| self.is_object(r.0, ty))?;
        let (p_on, r_on) = (self.alive(p.0, p.1)?, self.alive(r.0, r.1)?);
        let partings: HashSet<_> =
            direction.partings.iter().map(|p| (p.ty, p.outer, p.inner)).collect();
        // Type, what remains of p's offset, and, past the end of q, of r's.
        let start = (p.0.base, p.0.offset, None);
        let (mut seen, mut left) = (HashSet::from([start]), vec![start]);
        while let Some((ty, at, inner)) = left.pop() {
            let fields = &self.1[&ty].fields;
            let ended = (ty, at) == (p.0.access, 0);
            let mut next = Vec::new();
            match inner {
                None => {
                    let whole = r.0.base == r.0.access;
                    let object = self.is_object(r.0, ty);
                    ensure(
                        !(object && whole || ended && holding.contains_key(&ty)),
                        "the paths do not part",
                    )?;
                    next.extend(object.then_some((ty, at, Some(r.0.offset))));
                }
                Some(rest) => {
                    let r_ended = (ty, rest) == (r.0.access, 0);
                    ensure(!ended && !r_ended, "the paths do not part")?;
                }
            }
            for (i, ours) in fields.iter().enumerate().filter(|(_, f)| p_on(f.0, at - f.1)) {
                for (j, theirs) in fields.iter().enumerate() {
                    let (goes_on, begin) = match inner {
                        None => {
                            let far = holding.get(&theirs.0);
                            (
                                far.is_some() && (i == j || !strict),
                                theirs.1 + far.map_or(0, |far| far.0) + r.0.offset,
                            )
                        }
                        Some(rest) => (r_on(theirs.0, rest - theirs.1), rest),
                    };
                    if goes_on && i == j {
                        next.push((ours.0, at - ours.1, inner.map(|rest| rest - ours.1)));
                    } else if goes_on {
                        ensure(partings.contains(&(ty, i, j)), "two fields are not listed")?;
                        let ((start, size), after) = if ours.1 < theirs.1 {
                            ((at, p.0.size), theirs)
                        } else {
                            ((begin, r.0.size), ours)
                        };
                        let taken =
                            self.1[&ty].fields.iter().filter(|f| !self.1[&f.0].root).map(|f| f.1);
                        let union = taken.clone().count() > taken.collect::<HashSet<_>>().len();
                        let meet = union || size.is_some_and(|size| start + size > after.1);
                        ensure(!meet, "two fields that are said to part meet")?;
                    }
                }
            }
            left.extend(next.into_iter().filter(|&place| seen.insert(place)));
        }
        Ok(())
    }

    /// Returns where a denoted path may go on: from which types and offsets.
    fn alive(&self, of: &Of, denoted: &Denoted) -> Verdict<impl Fn(usize, i128) -> bool> {
        let far = self.inside(&denoted.inside, of.base, |ty| ty == of.access)?;
        let dead: HashSet<_> = denoted.dead.iter().map(|&(ty, at)| (ty, i128::from(at))).collect();
        let alive = move |ty, at| {
            at >= 0 && far.get(&ty).is_some_and(|far| at <= far.0) && !dead.contains(&(ty, at))
        };
        let (mut seen, mut left) = (HashSet::new(), vec![(of.base, of.offset)]);
        let ends = |place| place == (of.access, 0);
        for &(ty, at) in &denoted.dead {
            let mut next =
                self.1[&ty].fields.iter().map(|field| (field.0, i128::from(at) - field.1));
            ensure(
                !ends((ty, at.into())) && !next.any(|(ty, at)| alive(ty, at)),
                "a path goes on where none is said to",
            )?;
        }
        while let Some((ty, at)) = left.pop() {
            if ends((ty, at)) {
                return Ok(alive);
            }
            let next = self.1[&ty].fields.iter().map(|field| (field.0, at - field.1));
            left.extend(next.filter(|&(ty, at)| alive(ty, at) && seen.insert((ty, at))));
        }
        Err("a tag denotes nothing")
    }
}

//! Confirms a `NoAlias` of the union rules from its proof: reads the types by
//! itself, has arithmetic of its own, and shares no code with the oracle. That
//! the types are well formed is taken for granted.

use std::collections::{BTreeMap, HashMap};

use indexmap::IndexSet;
use tbaa::proof::{Apart, Direction, Gap, Parting, Proof};
use tbaa::{Access, ByteRange, Elements, Format, Graph, Tag, TypeId, TypeKind};

/// Stands for "without end".
const END: i128 = 1 << 100;

type Verdict<T = ()> = Result<T, &'static str>;

fn ensure(holds: bool, otherwise: &'static str) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise) }
}

/// Arrays by stride, with the number of the last element.
type Arrays = BTreeMap<i128, i128>;
/// Start, length, and where they are repeated.
type Bytes = (i128, i128, Arrays);
/// Type, offset, extent.
type Field = (TypeId, i128, i128);

fn sum(arrays: &Arrays, more: impl IntoIterator<Item = (i128, i128)>) -> Arrays {
    let mut all = arrays.clone();
    for (step, last) in more.into_iter().filter(|(_, last)| *last != 0) {
        let sum = all.entry(step).or_default();
        *sum = (*sum + last).min(END);
    }
    all
}

fn array(elements: &Elements) -> (i128, i128) {
    (elements.stride.into(), elements.count.map_or(END, |count| i128::from(count) - 1))
}

fn bytes(range: &ByteRange) -> Bytes {
    let len = range.end.map_or(END, |end| i128::from(end) - i128::from(range.start));
    (range.start.into(), len, range.repeats.iter().map(array).collect())
}

/// How far sums over arrays reach to either side; negative steps go back.
fn span(arrays: impl Iterator<Item = (i128, i128)>) -> (i128, i128) {
    arrays.fold((0, 0), |(back, on), (step, last)| {
        let span = step.saturating_mul(last).clamp(-END, END);
        (back + span.min(0), on + span.max(0))
    })
}

/// Whether no distance is in the window.
fn misses(at: i128, arrays: &[(i128, i128)], (from, to): (i128, i128), why: &Apart) -> bool {
    match why {
        Apart::Residue { modulus, residue, window } if *modulus != 0 => {
            let m = i128::from(*modulus);
            let of = |multiple| arrays.iter().copied().filter(move |a| (a.0 % m == 0) == multiple);
            let ((back, on), (least, greatest)) = (span(of(false)), span(of(true)));
            let (from, to) = ((from - on).max(at + least), (to - back).min(at + greatest));
            at.rem_euclid(m) == i128::from(*residue)
                && window.0.is_none_or(|said| said == from)
                && window.1.is_none_or(|said| said == to)
                && from + (at - from).rem_euclid(m) > to
        }
        Apart::Cases { array, runs } if *array < arrays.len() => {
            let (mut cases, (step, last), mut next) = (arrays.to_vec(), arrays[*array], 0);
            let each = runs.iter().all(|(count, why)| {
                let at = at + step.saturating_mul(next).clamp(-END, END);
                let end = count.map_or(last + 1, |count| next + i128::from(count));
                cases[*array].1 = end - next - 1;
                next = end;
                misses(at, &cases, (from, to), why)
            });
            each && next > last
        }
        _ => false,
    }
}

/// Returns the bytes that a gap parts, if it does.
fn parted(Gap { outer, inner, apart, .. }: &Gap) -> Option<(Bytes, Bytes)> {
    let back = outer.repeats.iter().map(array).map(|(step, last)| (-step, last));
    let arrays: Vec<_> = back.chain(inner.repeats.iter().map(array)).collect();
    let (p, r) = (bytes(outer), bytes(inner));
    misses(r.0 - p.0, &arrays, (1 - r.1, p.1 - 1), apart).then_some((p, r))
}

fn covers(more: &Bytes, less: &Bytes) -> bool {
    let within = |(step, last)| more.2.get(step).is_some_and(|most| most >= last);
    more.0 == less.0 && more.1 >= less.1 && less.2.iter().all(within)
}

fn before(a: &Bytes, b: &Bytes) -> bool {
    a.0 + a.1 + span(a.2.clone().into_iter()).1 <= b.0
}

/// A place on a path: the bytes that a flexible array in it may take and its own,
/// offsets without elements and as the tag counts, the innermost array, its end, those
/// around it, all, and where an object of the other access was passed.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Place {
    ty: TypeId,
    slot: i128,
    len: i128,
    collapsed: i128,
    offset: i128,
    inner: Option<(i128, i128)>,
    end: i128,
    outer: Arrays,
    all: Arrays,
    object: Option<(i128, Arrays)>,
}

/// Confirms proofs about the types of one graph.
pub struct Checker<'g>(pub &'g Graph);

impl Checker<'_> {
    fn parent(&self, ty: TypeId) -> Option<TypeId> {
        let (node, new) = (self.0.ty(ty), self.0.ty(ty).format() == Format::New);
        node.parent().filter(|_| new || node.kind() == TypeKind::Scalar)
    }

    fn fields(&self, ty: TypeId) -> Vec<Field> {
        let (node, up) = (self.0.ty(ty), self.parent(ty));
        let up = up.filter(|_| node.format() == Format::Old);
        let fields = node.fields().filter(|_| up.is_none());
        let fields = fields.map(|f| (f.ty, f.offset.into(), f.extent.unwrap_or(0).into()));
        up.into_iter().map(|up| (up, 0, 0)).chain(fields).collect()
    }

    fn is_above(&self, upper: TypeId, ty: TypeId) -> bool {
        std::iter::successors(Some(ty), |&ty| self.parent(ty)).any(|ty| ty == upper)
    }

    fn is_object(&self, of: &Tag, ty: TypeId) -> bool {
        ty == of.base || of.is_whole() && self.is_above(of.base, ty)
    }

    /// Whether a denoted path goes on from a type with so many bytes left.
    fn goes_on(&self, of: &Tag, (ty, left): (TypeId, i128)) -> bool {
        let mut places = self.walk(self.start(ty), left, true, None).into_iter();
        places.any(|at| (at.ty, at.offset) == (of.access, left)) && left >= 0
    }

    /// Confirms that two accesses do not alias by rule `union`, or if `strict` by
    /// rule `union-strict`; or says what is wrong.
    pub fn confirm(&self, strict: bool, a: Access, b: Access, proof: &Proof) -> Verdict {
        let read = |access: Access| {
            let tag = self.0.tag(access.tag?).ok()?;
            let size = access.size.or(tag.size).filter(|&size| size != 0 && size != u64::MAX);
            Some(Tag { size, ..tag })
        };
        let (Some(of_a), Some(of_b)) = (read(a), read(b)) else { return Err("no tag") };
        let general = |a: &Tag, b: &Tag| a.is_whole() && self.is_above(a.access, b.access);
        ensure(a.tag != b.tag && of_a.format == of_b.format, "one tag, or two formats")?;
        ensure(self.0.root_of(of_a.access) == self.0.root_of(of_b.access), "two roots")?;
        ensure(!general(&of_a, &of_b) && !general(&of_b, &of_a), "one covers the other")?;
        ensure(strict || !proof.strict, "a proof by the other rule")?;
        let check = if of_a.format == Format::New { Self::sized } else { Self::inferred };
        check(self, proof.strict, &of_a, &of_b, &proof.directions[0])?;
        check(self, proof.strict, &of_b, &of_a, &proof.directions[1])
    }

    fn start(&self, ty: TypeId) -> Place {
        let (slot, end, len) = (END, END, self.0.ty(ty).size().unwrap_or(0).into());
        let (collapsed, offset, inner, outer, all, object) = Default::default();
        Place { ty, slot, len, collapsed, offset, inner, end, outer, all, object }
    }

    /// Returns all places up to the offset `most`; past an object of `of`, with and without it.
    fn walk(&self, from: Place, most: i128, folded: bool, of: Option<&Tag>) -> IndexSet<Place> {
        let (mut seen, mut at) = (IndexSet::from([from]), 0);
        while let Some(place) = seen.get_index(at).cloned() {
            at += 1;
            if place.object.is_none() && of.is_some_and(|of| self.is_object(of, place.ty)) {
                let object = Some((place.collapsed, place.all.clone()));
                seen.insert(Place { object, ..place.clone() });
            }
            for (ty, offset, extent) in self.fields(place.ty) {
                let size = i128::from(self.0.ty(ty).size().unwrap_or(0));
                let begin = place.offset + offset;
                let is_bounded = (offset + 1..END).contains(&place.slot);
                let room = if is_bounded { place.slot - offset } else { END };
                let whole = if extent == 0 { room } else { extent };
                let last = if whole == END { END } else { (whole - 1) / size.max(1) };
                let is_array = size != 0 && (extent == 0 || extent > size);
                let (collapsed, len) =
                    (place.collapsed + offset, if size == 0 { 0 } else { extent });
                let mut next = Place { ty, slot: extent, len, collapsed, ..place.clone() };
                if is_array {
                    (next.slot, next.len, next.inner) = (size, END, Some((size, last)));
                    next.end = if whole == END { END } else { begin + whole };
                    next.outer = std::mem::take(&mut next.all);
                    next.all = sum(&next.outer, next.inner);
                }
                let (step, last) = if is_array && !folded { (size, last) } else { (1, 0) };
                let last = (most - begin).div_euclid(step).min(last);
                seen.extend((0..=last).map(|e| Place { offset: begin + e * step, ..next.clone() }));
            }
        }
        seen
    }

    /// Returns the ends of the paths that an access denotes, each with the bytes of
    /// the elements that its array does not cut, or of the first cut one.
    fn ends(&self, of: &Tag, passed: Option<&Tag>) -> Verdict<Vec<(Place, Bytes)>> {
        for folded in [true, false] {
            let mut ends = self.walk(self.start(of.base), of.offset.into(), folded, passed);
            ends.retain(|at| (at.ty, at.offset) == (of.access, of.offset.into()));
            let bytes = |Place { len, end, offset, outer, inner, .. }: &Place| {
                let len = of.size.map_or(*len, i128::from);
                let room = if *end == END { END } else { end - offset };
                let outer = if folded { outer.clone() } else { Arrays::new() };
                let (step, last) = inner.filter(|_| folded).unwrap_or((1, 0));
                let fit = if room == END { END } else { (room - len).div_euclid(step) };
                let uncut = fit.max(-1).min(last) + 1;
                let (all, first) = (sum(&outer, [(step, uncut - 1)]), uncut.min(last) * step);
                let whole = (uncut > 0).then_some((*offset, len, all));
                let cut = (uncut <= last).then_some((offset + first, room - first, outer));
                whole.into_iter().chain(cut).filter(move |bytes| bytes.1 > 0 && len > 0)
            };
            if !ends.is_empty() {
                let with = |at: Place| bytes(&at).map(move |bytes| (at.clone(), bytes));
                return Ok(ends.into_iter().flat_map(with).collect());
            }
        }
        Err("a tag denotes nothing")
    }

    /// Follows the objects of one access in the other's base type; sizes known.
    fn sized(&self, strict: bool, p: &Tag, r: &Tag, said: &Direction) -> Verdict {
        let gaps: Option<Vec<_>> = said.gaps.iter().map(parted).collect();
        let gaps = gaps.ok_or("bytes that are said to part do not")?;
        let r_ends = self.ends(r, None)?;
        for (end, p_bytes) in self.ends(p, strict.then_some(r))? {
            let from =
                if strict { Place { offset: end.collapsed, ..end } } else { self.start(p.base) };
            let places = self.walk(from, END, true, Some(r)).into_iter();
            for (at, arrays) in places.filter_map(|q| q.object).collect::<IndexSet<_>>() {
                for (_, (start, len, repeats)) in &r_ends {
                    let r = (start + at, *len, sum(repeats, arrays.clone()));
                    let listed = |g: &(Bytes, Bytes)| covers(&g.0, &p_bytes) && covers(&g.1, &r);
                    let apart = before(&p_bytes, &r) || before(&r, &p_bytes);
                    ensure(apart || gaps.iter().any(listed), "bytes that may meet are not listed")?;
                }
            }
        }
        Ok(())
    }

    /// Follows the paths of both side by side; sizes unknown.
    fn inferred(&self, strict: bool, p: &Tag, r: &Tag, said: &Direction) -> Verdict {
        let mut known = (HashMap::new(), HashMap::new(), HashMap::new());
        // How far from a type's start an object of r begins at most.
        let farthest = |ty| {
            let places = self.walk(self.start(ty), END, true, None).into_iter();
            places.filter(|at| self.is_object(r, at.ty)).map(|at| at.offset).max()
        };
        let mut far = |ty| *known.0.entry(ty).or_insert_with(|| farthest(ty));
        let mut p_on = |at| *known.1.entry(at).or_insert_with(|| self.goes_on(p, at));
        let mut r_on = |at| *known.2.entry(at).or_insert_with(|| self.goes_on(r, at));
        let (p_offset, r_offset) = (p.offset.into(), r.offset.into());
        ensure(p_on((p.base, p_offset)) && r_on((r.base, r_offset)), "a tag denotes nothing")?;
        // Type, what remains of p's offset, and, past the end of q, of r's.
        let (mut seen, mut at) = (IndexSet::from([(p.base, p_offset, None)]), 0);
        while let Some(&(ty, left, inner)) = seen.get_index(at) {
            at += 1;
            let object = inner.is_none() && self.is_object(r, ty);
            let holds = inner.is_some() || far(ty).is_some();
            let ended = (ty, left) == (p.access, 0) && holds || object && r.is_whole();
            ensure(!ended && inner.is_none_or(|at| (ty, at) != (r.access, 0)), "no paths part")?;
            seen.extend(object.then_some((ty, left, Some(r_offset))));
            let (fields, index) = (self.fields(ty), ty.node().index());
            let is_union = fields.windows(2).any(|two| two[0].1 == two[1].1);
            let leads = |field: &Field| match inner {
                None => Some(field.1 + far(field.0)? + r_offset),
                Some(rest) => r_on((field.0, rest - field.1)).then_some(rest),
            };
            let theirs: Vec<_> = fields.iter().map(leads).collect();
            for (i, ours) in fields.iter().enumerate().filter(|(_, f)| p_on((f.0, left - f.1))) {
                for (j, (field, begin)) in fields.iter().zip(&theirs).enumerate() {
                    let Some(begin) = *begin else { continue };
                    if i == j {
                        seen.insert((ours.0, left - ours.1, inner.map(|rest| rest - field.1)));
                    } else if inner.is_some() || !strict {
                        let part = |p: &Parting| (p.ty, p.outer, p.inner) == (index, i, j);
                        ensure(said.partings.iter().any(part), "two fields are not listed")?;
                        let first = ours.1 < field.1;
                        let (start, size) = if first { (left, p.size) } else { (begin, r.size) };
                        let end = size.map_or(0, |size| start + i128::from(size));
                        let meet = is_union || end > ours.1.max(field.1);
                        ensure(!meet, "two fields that are said to part meet")?;
                    }
                }
            }
        }
        Ok(())
    }
}

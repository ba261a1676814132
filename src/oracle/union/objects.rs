//! The objects inside a type at which an access may start (the paths q), and
//! the comparison of bytes there.

use super::access::Resolved;
use super::arena::{Link, PathArena};
use super::denoted::{Denoted, Prefix};
use super::stride::{Pattern, add_stride, meets, span};
use super::traversal::{Pending, Reach, Way, reach};
use super::types::{TypeIndex, Types, elements, slot_of};
use crate::oracle::limits::{Budget, Exhausted};
use crate::table::HashMap;

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
    pub(crate) fn new(
        types: &'o Types,
        from: TypeIndex,
        (b, r): (Resolved, &'o [Denoted]),
        budget: &mut Budget,
    ) -> Result<Self, Exhausted> {
        let reach = reach(types, from, |ty| b.has_object(types, ty), budget)?;
        Ok(Objects { types, b, r, reach, apart: None, unsure: false })
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
                match meets(p_bytes, r_bytes, q.at.into(), &q.strides, budget) {
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
        arena: &mut PathArena,
        budget: &mut Budget,
    ) -> Result<Option<Witness>, Exhausted> {
        let (Some(near), Some(theirs)) = (hull(p), hull(self.r)) else { return Ok(None) };
        let mut pending = Pending::<(u128, u64)>::new();
        let (Prefix { at, strides, .. }, link) = start;
        if self.reach.contains_key(&ty) {
            let way = Way { outer: strides, link, prefix_link: link };
            pending.add(self.types, ty, (slot, at), way);
        }
        while let Some((ty, places)) = pending.pop() {
            let is_object = self.b.has_object(self.types, ty);
            for ((slot, at), ways) in places {
                for way in ways {
                    if is_object {
                        let q = Prefix { ty, at, strides: way.outer.clone() };
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
                        let link = arena.step(way.link, ty, number);
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

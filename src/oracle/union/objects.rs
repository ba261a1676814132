//! Compares the bytes `p` of one access with the bytes `r` of another, `b`, whose base type is
//! inside that of the first. An *object of b* is an object of b's base type or, if b accesses its
//! whole base type, of a descendant. A path `q` leads from the first base type to such an object.

use super::access::Resolved;
use super::arena::{Link, PathArena};
use super::bytes::hull;
use super::denoted::Object;
use super::stride::{Pattern, add_stride, meets};
use super::traversal::{Pending, Way};
use crate::oracle::limits::{Budget, Exhausted};
use crate::oracle::types::{Stride, Types, elements, slot_of, span};

/// A pair of byte patterns that share a byte, or that were found to share none.
#[derive(Clone, Debug)]
pub(super) struct Witness {
    /// `p` and `r` are indices into the lists of patterns. `q` is the path to the object of b.
    pub(super) p: usize,
    pub(super) r: usize,
    pub(super) q: Link,
    /// The pattern `r` in the objects at the end of `q`, relative to the start of `q`.
    pub(super) r_bytes: Pattern,
}

/// A search for objects of `b` that may share bytes with given patterns.
pub(super) struct Objects<'o> {
    pub(super) types: &'o Types,
    pub(super) b: Resolved,
    /// The bytes of b, relative to the start of its base type.
    pub(super) r: &'o [Pattern],
    /// The first byte of `r` and the end of its last byte.
    pub(super) of_r: Option<(u128, u128)>,
    /// True if an object of b was found.
    pub(super) related: bool,
    /// The first two patterns that were found to share no byte.
    pub(super) apart: Option<Witness>,
    /// True if some comparison reached its limit.
    pub(super) unsure: bool,
}

impl<'o> Objects<'o> {
    pub(super) fn new(types: &'o Types, b: Resolved, r: &'o [Pattern]) -> Self {
        Objects { types, b, r, of_r: hull(r), related: false, apart: None, unsure: false }
    }

    /// Finds patterns of `p` and `r` that share a byte, for the objects at the end of `link`.
    pub(super) fn compare(
        &mut self,
        p: &[Pattern],
        (at, strides): (u64, &[Stride]),
        link: Link,
        budget: &mut Budget,
    ) -> Result<Option<Witness>, Exhausted> {
        self.related = true;
        for (number, ours) in p.iter().enumerate() {
            for (other, theirs) in self.r.iter().enumerate() {
                budget.spend()?;
                let witness = || {
                    let mut moved = theirs.clone();
                    moved.start += u128::from(at);
                    strides.iter().for_each(|&stride| add_stride(&mut moved.strides, stride));
                    Witness { p: number, r: other, q: link, r_bytes: moved }
                };
                match meets(ours, theirs, at.into(), strides, budget) {
                    Ok(true) => return Ok(Some(witness())),
                    Ok(false) if self.apart.is_none() => self.apart = Some(witness()),
                    Ok(false) => {}
                    Err(Exhausted) => self.unsure = true,
                }
            }
        }
        Ok(None)
    }

    /// Calls [`Objects::compare`] for the objects of b in the given object that may share bytes
    /// with `p`, until two patterns share a byte.
    pub(super) fn search(
        &mut self,
        p: &[Pattern],
        Object { ty, slot, at, strides }: Object,
        link: Link,
        arena: &mut PathArena,
        budget: &mut Budget,
    ) -> Result<Option<Witness>, Exhausted> {
        let (Some(near), Some(theirs)) = (hull(p), self.of_r) else { return Ok(None) };
        let types = self.types;
        let mut pending = Pending::<(u128, u64)>::new();
        pending.add(types, ty, (slot, at), Way { strides, link, left: link });
        while let Some((ty, (slot, at), ways)) = pending.pop() {
            let is_object = self.b.has_object(types, ty);
            for way in ways {
                if is_object
                    && let Some(witness) = self.compare(p, (at, &way.strides), way.link, budget)?
                {
                    return Ok(Some(witness));
                }
                // An object of type `b.base` contains no object of b: no type contains itself.
                if ty == self.b.base {
                    continue;
                }
                let so_far = span(&way.strides);
                for (number, field) in types.fields(ty).iter().enumerate() {
                    budget.spend()?;
                    if !types.may_hold(field.ty, self.b.base) {
                        continue;
                    }
                    let at = at.checked_add(field.offset).ok_or(Exhausted)?;
                    // Fields are sorted by offset, so `r` begins after `p` in later fields, too.
                    if u128::from(at) + theirs.0 >= near.1 {
                        break;
                    }
                    let array = elements(types, field, slot);
                    let farther = array.map_or(0, |array| span(&[array])) + so_far;
                    if u128::from(at) + farther + types.get(field.ty).far + theirs.1 <= near.0 {
                        continue;
                    }
                    let mut strides = way.strides.clone();
                    array.into_iter().for_each(|array| add_stride(&mut strides, array));
                    let link = arena.step(way.link, ty, number);
                    let next = Way { strides, link, left: link };
                    let slot = slot_of(types, field, array);
                    for _ in 0..pending.add(types, field.ty, (slot, at), next) {
                        budget.spend()?;
                    }
                }
            }
        }
        Ok(None)
    }
}

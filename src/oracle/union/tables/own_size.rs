//! Accesses with sizes of their own, in place of what their tags say.
//!
//! Between two regular tags a size is of consequence only where an access reaches
//! past what its tag is sure to access. In the size-aware format that is its
//! scalar. In the old format it is the slot of each field on its walk, and where
//! its base type lies in a field beside the other's walk, that field's slot.

use super::super::access::Resolved;
use super::super::types::{Field, TypeIndex, Types};
use super::clear::is_within;
use crate::graph::Format;
use crate::oracle::index::Index;

/// A regular tag's cursor, and an access with this tag.
pub(super) type Sized = (u32, Resolved);

/// Whether two accesses alias as their tags do, which do not.
pub(super) fn decides_as_tags(types: &Types, index: &Index, a: Sized, b: Sized) -> bool {
    match a.1.format(types) {
        Format::New => is_within(types, &a.1) && is_within(types, &b.1),
        Format::Old => {
            keeps_to_slots(types, index, a)
                && keeps_to_slots(types, index, b)
                && keeps_beside(types, index, a.0, &b.1)
                && keeps_beside(types, index, b.0, &a.1)
        }
    }
}

/// Returns the fields of each aggregate on a clear walk, the position of the one
/// that it goes by, and the offset into the aggregate.
fn aggregates<'i>(
    types: &'i Types,
    index: &'i Index,
    cursor: u32,
) -> impl Iterator<Item = (&'i [Field], usize, u64)> {
    index.forest.walk(cursor).map_while(|at| {
        let (ty, offset) = (index.ty(at), index.offset(at));
        let taken = types.field_at(ty, offset).filter(|_| !types.get(ty).scalar)?;
        Some((types.fields(ty), taken, offset))
    })
}

/// Whether an access ends before the field after any on its walk begins.
fn keeps_to_slots(types: &Types, index: &Index, (cursor, access): Sized) -> bool {
    let Some(size) = access.size else { return true };
    aggregates(types, index, cursor).all(|(fields, taken, offset)| {
        let next = fields.get(taken + 1);
        next.is_none_or(|next| offset.checked_add(size).is_some_and(|end| end <= next.offset))
    })
}

/// Whether an access, wherever its base type lies in a field before the one that
/// the other's walk goes by, ends before that one begins.
fn keeps_beside(types: &Types, index: &Index, walk: u32, access: &Resolved) -> bool {
    let Some(size) = access.size else { return true };
    let ends_by = |field: &Field, end: u64| {
        let object = farthest(types, field.ty, access.base)?;
        let start = u128::from(field.offset) + object + u128::from(access.offset);
        Some(start + u128::from(size) <= end.into())
    };
    let holds = |field: &&Field| types.may_hold(field.ty, access.base);
    aggregates(types, index, walk).all(|(fields, taken, _)| {
        let end = fields[taken].offset;
        fields[..taken].iter().filter(holds).all(|field| ends_by(field, end).unwrap_or(false))
    })
}

/// Returns how far from the start of a type the last object of another lies;
/// `None` if that is not found at once.
fn farthest(types: &Types, mut ty: TypeIndex, object: TypeIndex) -> Option<u128> {
    let mut at = 0;
    while !types.is_ancestor(object, ty) {
        let holds = |field: &&Field| types.may_hold(field.ty, object);
        let last = types.fields(ty).iter().rfind(holds).filter(|last| last.clear)?;
        at += u128::from(last.offset);
        ty = last.ty;
    }
    Some(at)
}

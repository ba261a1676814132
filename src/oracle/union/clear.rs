//! Clear walks: paths from a tag's base type through *clear* fields, which no other field overlaps,
//! to a scalar and on to its ancestors. A *cursor* is a type and offset on a walk.
//!
//! If a clear walk leads to a tag's scalar, only one path leads from its base type to its bytes. If
//! the access stays in the scalar, the tag is *regular*. Its cursor is its base type and offset.
//! Two regular tags of one root and format may alias iff one's cursor is on the walk of the other.

use super::access::Resolved;
use crate::extent::Size;
use crate::graph::Format;
use crate::oracle::index::Index;
use crate::oracle::types::{TypeIndex, Types};

/// Returns the cursor of a tag whose clear walk reaches its access type. Returns `Some(None)` if
/// the clear walk leads elsewhere, `None` if the walk is not clear or the access type is no scalar.
pub(super) fn cursor(index: &mut Index, access: &Resolved) -> Option<Option<u32>> {
    if !index.types.get(access.access).scalar {
        return None;
    }
    let end = add_walk(index, (access.access, 0))?;
    let cursor = add_walk(index, (access.base, access.offset))?;
    let (types, forest) = (&index.types, &index.walks.forest);
    let is_aggregate = |cursor| {
        let ty = types.get(index.walks.ty(cursor));
        !ty.scalar && ty.format.is_some()
    };
    let arrives = match types.get(access.access).format {
        // An old-format path that ends at a scalar also ends at the scalar's ancestors.
        Some(Format::Old) => true,
        _ if is_aggregate(cursor) => forest.parent(forest.climb(cursor, is_aggregate)) == Some(end),
        _ => cursor == end,
    };
    Some((arrives && forest.is_ancestor(end, cursor)).then_some(cursor))
}

/// Returns the largest size of an access that touches only the scalar, at most `u32::MAX`. Returns
/// 0 in the old format, where this size is unknown.
pub(super) fn room(types: &Types, access: &Resolved) -> u32 {
    let far = types.get(access.access).far.min(u32::MAX.into()) as u32;
    access.format(types).choose(0, far)
}

/// Returns whether an access whose tag has a cursor touches only the scalar.
pub(super) fn is_within(types: &Types, access: &Resolved) -> bool {
    match access.size {
        None => true,
        Some(Size::Bytes(size)) => size <= room(types, access).into(),
        Some(Size::Unknown) => access.is_whole() && access.format(types) == Format::New,
    }
}

/// Adds a walk, and returns the cursor at its start, or `None` if the walk is not clear.
fn add_walk(index: &mut Index, start: (TypeIndex, u64)) -> Option<u32> {
    let types = &index.types;
    index.walks.add_walk(start, usize::MAX, |ty, offset| next(types, ty, offset))
}

/// Returns the next type and offset on a clear walk. Returns `Some(None)` at a root or inside a
/// scalar, and `None` if no clear field or proper parent follows.
fn next(types: &Types, ty: TypeIndex, offset: u64) -> Option<Option<(TypeIndex, u64)>> {
    let of_type = types.get(ty);
    if of_type.format.is_none() {
        return Some(None);
    }
    if of_type.scalar {
        let parent = types.parent(ty)?;
        let above = types.get(parent);
        // Only text input can have an aggregate as a scalar's parent, or a scalar of no bytes.
        let proper = (above.scalar || above.format.is_none())
            && (of_type.size != 0 || of_type.format == Some(Format::Old));
        return proper.then_some((offset == 0).then_some((parent, 0)));
    }
    let field = &types.fields(ty)[types.field_at(ty, offset)?];
    field.clear.then_some(Some((field.ty, offset - field.offset)))
}

/// Returns whether the clear walk of `access` passes an object of another access, `object`.
pub(super) fn passes(types: &Types, access: &Resolved, object: &Resolved) -> bool {
    let (mut ty, mut rest) = (access.base, access.offset);
    while ty != access.access || rest != 0 {
        let Some(at) = types.field_at(ty, rest).filter(|_| !object.has_object(types, ty)) else {
            return true;
        };
        let field = &types.fields(ty)[at];
        (ty, rest) = (field.ty, rest - field.offset);
    }
    types.ancestors(ty).any(|up| object.has_object(types, up))
}

//! Clear walks: paths through fields that no other field overlaps.
//!
//! A tag whose walk reaches its scalar through clear fields only is regular: only one path leads
//! from its base to its bytes. So its cursors are those of rule `llvm`, and two regular tags of one
//! root and format share a byte iff one's cursor lies on the other's walk. (This is the theorem
//! that both rules agree if nothing overlaps.)

use super::access::Resolved;
use crate::extent::Size;
use crate::graph::Format;
use crate::oracle::index::Index;
use crate::oracle::types::{TypeIndex, Types};

/// Returns the cursor of a tag that reaches one scalar through clear fields; `Some(None)` if the
/// clear walk leads elsewhere.
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
        // Whatever a scalar is, its ancestors are.
        Some(Format::Old) => true,
        _ if is_aggregate(cursor) => forest.parent(forest.climb(cursor, is_aggregate)) == Some(end),
        _ => cursor == end,
    };
    Some((arrives && forest.is_ancestor(end, cursor)).then_some(cursor))
}

/// Returns the largest size of an access by a tag with a cursor that touches only the scalar; 0 in
/// the old format, where it is unknown.
pub(super) fn room(types: &Types, access: &Resolved) -> u32 {
    let far = types.get(access.access).far.min(u32::MAX.into()) as u32;
    access.format(types).choose(0, far)
}

/// Returns whether a tag with a cursor accesses only its scalar.
pub(super) fn is_within(types: &Types, access: &Resolved) -> bool {
    match access.size {
        None => true,
        Some(Size::Bytes(size)) => size <= room(types, access).into(),
        Some(Size::Unknown) => access.is_whole() && access.format(types) == Format::New,
    }
}

/// Adds a clear walk to a root, and returns the cursor at its start.
fn add_walk(index: &mut Index, start: (TypeIndex, u64)) -> Option<u32> {
    let types = &index.types;
    index.walks.add_walk(start, usize::MAX, |ty, offset| next(types, ty, offset))
}

/// Returns the next place on a clear walk; `Some(None)` after a root, or if nothing is at the
/// offset; `None` if the walk is not clear.
fn next(types: &Types, ty: TypeIndex, offset: u64) -> Option<Option<(TypeIndex, u64)>> {
    let of_type = types.get(ty);
    if of_type.format.is_none() {
        return Some(None);
    }
    if of_type.scalar {
        let parent = types.parent(ty)?;
        let above = types.get(parent);
        // Only a text puts a scalar below an aggregate, or gives it no byte.
        let proper = (above.scalar || above.format.is_none())
            && (of_type.size != 0 || of_type.format == Some(Format::Old));
        return proper.then_some((offset == 0).then_some((parent, 0)));
    }
    let field = &types.fields(ty)[types.field_at(ty, offset)?];
    field.clear.then_some(Some((field.ty, offset - field.offset)))
}

/// Returns whether the clear walk of an access passes an object of another.
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

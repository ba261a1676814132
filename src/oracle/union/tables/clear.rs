//! Clear walks: through fields into which no other field reaches.

use super::super::access::Resolved;
use super::super::types::{TypeIndex, Types};
use crate::graph::Format;
use crate::oracle::index::Index;
use crate::oracle::limits::Exhausted;

/// Why a tag is neither regular nor irregular.
pub(super) enum Aside {
    /// It may alias everything.
    Rejected,
    /// It took more steps to judge than there were.
    Limited,
    /// The definition decides.
    Unindexed,
}

impl From<Exhausted> for Aside {
    fn from(_: Exhausted) -> Self {
        Aside::Limited
    }
}

/// Whether a tag that accesses a scalar accesses no byte beside.
pub(super) fn is_within(types: &Types, access: &Resolved) -> bool {
    let scalar = types.get(access.access);
    match access.size {
        _ if scalar.format == Some(Format::Old) => true,
        Some(size) => u128::from(size) <= scalar.far,
        // It goes on to the end of the field, and past that within an array.
        None => !types.get(access.base).arrays,
    }
}

/// Returns the place after one on a clear walk, `Some(None)` after a root and
/// where the offset leads nowhere; `None` where the walk is not clear.
pub(super) fn next(types: &Types, ty: TypeIndex, offset: u64) -> Option<Option<(TypeIndex, u64)>> {
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

/// Returns the cursor at the start of a clear walk to a root, the walk added.
pub(super) fn add_walk(types: &Types, index: &mut Index, start: (TypeIndex, u64)) -> Option<u32> {
    index.add_walk(start, usize::MAX, |ty, offset| next(types, ty, offset))
}

/// Returns the cursor of a place from which a clear walk leads to the scalar that
/// is accessed; `Some(None)` if it leads elsewhere.
pub(super) fn walk(
    types: &Types,
    index: &mut Index,
    start: (TypeIndex, u64),
    access: &Resolved,
) -> Option<Option<u32>> {
    let end = add_walk(types, index, (access.access, 0))?;
    let cursor = add_walk(types, index, start)?;
    let forest = &index.forest;
    let is_aggregate = |cursor| {
        let ty = types.get(index.ty(cursor));
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

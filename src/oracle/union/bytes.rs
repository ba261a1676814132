//! The bytes of a size-aware access, as patterns from the start of its base type.
//!
//! If one access's base type contains the other's, the outer access's bytes need not be cut at its
//! base's end, because no object inside extends further. The inner one's are cut: the bytes after
//! its base belong to other objects.

use super::access::Resolved;
use super::denoted::Denoted;
use super::stride::{Pattern, cut};
use crate::extent::{Size, UNBOUNDED, touched};
use crate::oracle::limits::{Budget, Exhausted};
use crate::oracle::types::Types;

/// Returns the bytes of each path of an access, as far as they matter inside its own
/// base type; none for an access of no bytes.
pub(super) fn uncut(types: &Types, access: &Resolved, paths: &[Denoted]) -> Vec<Pattern> {
    let start = u128::from(access.offset);
    let len = touched(access.size, access.offset, types.get(access.base).far);
    let of_path = |path: &Denoted| Pattern {
        start,
        len,
        // An access that extends to the end from one element includes everything after it.
        strides: if access.size == Some(Size::Unknown) { Vec::new() } else { path.strides.clone() },
    };
    paths.iter().filter(|_| len != 0).map(of_path).collect()
}

/// Returns the bytes of an access inside its base type, and the number of the path of
/// each.
pub(super) fn inside(
    types: &Types,
    access: &Resolved,
    paths: &[Denoted],
    budget: &mut Budget,
) -> Result<(Vec<Pattern>, Vec<usize>), Exhausted> {
    let end = types.get(access.base).far;
    let (mut bytes, mut numbers) = (Vec::new(), Vec::new());
    for (number, whole) in uncut(types, access, paths).into_iter().enumerate() {
        let before = bytes.len();
        // The distance that the first element may move and stay inside the base.
        match end - whole.start - whole.len {
            _ if end >= UNBOUNDED => bytes.push(whole),
            room => cut(whole, room, &mut bytes, budget)?,
        }
        numbers.extend((before..bytes.len()).map(|_| number));
    }
    Ok((bytes, numbers))
}

/// The first byte of some patterns, and the end of the last.
pub(super) fn hull(bytes: &[Pattern]) -> Option<(u128, u128)> {
    let start = bytes.iter().map(|pattern| pattern.start).min()?;
    Some((start, bytes.iter().map(Pattern::end).max()?))
}

//! The bytes of a size-aware access, as [`Pattern`]s relative to the start of its base type.
//!
//! If the base type of one access (the *outer*) contains that of the other (the *inner*), the bytes
//! of the outer need not be cut at the end of its base type: no object inside extends further. The
//! bytes of the inner must be cut at the end of its base type, because other objects may follow.

use super::access::Resolved;
use super::denoted::Denoted;
use super::stride::{Pattern, cut};
use crate::extent::{Size, UNBOUNDED, touched};
use crate::oracle::limits::{Budget, Exhausted};
use crate::oracle::types::Types;

/// Returns the bytes of each path of an access, without cutting them at the end of its base type.
/// Returns an empty list if the access touches no bytes.
pub(super) fn uncut(types: &Types, access: &Resolved, paths: &[Denoted]) -> Vec<Pattern> {
    let start = u128::from(access.offset);
    let len = touched(access.size, access.offset, types.get(access.base).far);
    let of_path = |path: &Denoted| Pattern {
        start,
        len,
        // An access of unknown size touches everything after its start, in all later elements too.
        strides: if access.size == Some(Size::Unknown) { Vec::new() } else { path.strides.clone() },
    };
    paths.iter().filter(|_| len != 0).map(of_path).collect()
}

/// Returns the bytes of an access inside its base type, and for each pattern its path's index.
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
        // The distance by which the first element can be moved without leaving the base type.
        match end - whole.start - whole.len {
            _ if end >= UNBOUNDED => bytes.push(whole),
            room => cut(whole, room, &mut bytes, budget)?,
        }
        numbers.extend((before..bytes.len()).map(|_| number));
    }
    Ok((bytes, numbers))
}

/// Returns the first byte of some patterns, and the end of the one that extends farthest.
pub(super) fn hull(bytes: &[Pattern]) -> Option<(u128, u128)> {
    let start = bytes.iter().map(|pattern| pattern.start).min()?;
    Some((start, bytes.iter().map(Pattern::end).max()?))
}

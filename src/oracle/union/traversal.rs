//! The common part of all traversals of the types.
//!
//! A traversal visits a type only after everything that contains it, so that
//! whatever arrives at one place by different paths is merged before it goes
//! on.

use std::collections::BTreeMap;

use super::arena::Link;
use super::stride::is_covered;
use crate::oracle::types::{Stride, TypeIndex, Types};

/// One path to a place.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// The arrays that it crosses.
    pub(super) strides: Vec<Stride>,
    pub(super) link: Link,
    /// The place where it left another path, if that is tracked.
    pub(super) left: Link,
}

/// Places by type, highest rank first, and for each place the paths that no other path covers.
pub(super) struct Pending<P> {
    by_rank: BTreeMap<(u32, P), (TypeIndex, Vec<Way>)>,
}

impl<P: Ord> Pending<P> {
    pub(super) fn new() -> Self {
        Pending { by_rank: BTreeMap::new() }
    }

    /// Adds a path, and returns the number of paths that it was compared with.
    pub(super) fn add(&mut self, types: &Types, ty: TypeIndex, place: P, way: Way) -> usize {
        let key = (types.get(ty).rank, place);
        let (_, ways) = self.by_rank.entry(key).or_insert_with(|| (ty, Vec::new()));
        let others = ways.len();
        if !ways.iter().any(|other| is_covered(&way.strides, &other.strides)) {
            ways.retain(|other| !is_covered(&other.strides, &way.strides));
            ways.push(way);
        }
        others
    }

    /// Removes a place of the highest rank, and returns it with the paths to it.
    pub(super) fn pop(&mut self) -> Option<(TypeIndex, P, Vec<Way>)> {
        let ((_, place), (ty, ways)) = self.by_rank.pop_last()?;
        Some((ty, place, ways))
    }
}

//! The common part of all traversals of the types.
//!
//! A traversal visits a type only after everything that contains it, so that
//! whatever arrives at one place by different paths is merged before it goes
//! on.

use std::collections::BTreeMap;

use super::arena::Link;
use super::stride::is_covered;
use crate::oracle::types::{Stride, TypeIndex, Types};

/// One way to a place.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// The arrays that it crosses.
    pub(super) strides: Vec<Stride>,
    pub(super) link: Link,
    /// The place where it left the way of another path, if that is tracked.
    pub(super) left: Link,
}

/// Places by type, those with the highest rank first, and at each place the
/// ways that no other way covers.
pub(super) struct Pending<P> {
    by_rank: BTreeMap<(u32, P), (TypeIndex, Vec<Way>)>,
}

impl<P: Ord> Pending<P> {
    pub(super) fn new() -> Self {
        Pending { by_rank: BTreeMap::new() }
    }

    /// Adds a way, and returns with how many others it was compared.
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

    /// Takes a place of the highest rank, with the ways that lead to it.
    pub(super) fn pop(&mut self) -> Option<(TypeIndex, P, Vec<Way>)> {
        let ((_, place), (ty, ways)) = self.by_rank.pop_last()?;
        Some((ty, place, ways))
    }
}

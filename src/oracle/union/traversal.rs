//! A queue for traversals of the types.
//!
//! A traversal visits a type after all types that contain it. So all paths to the same type and
//! offset are known and merged before any of them continues.

use std::collections::BTreeMap;

use super::arena::Link;
use super::stride::is_covered;
use crate::oracle::types::{Stride, TypeIndex, Types};

/// A path to a type at a place (such as an offset).
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// The arrays that the path crosses.
    pub(super) strides: Vec<Stride>,
    pub(super) link: Link,
    /// For rule `union-strict`: the path to the object at which the path of the other access leaves
    /// this path.
    pub(super) left: Link,
}

/// Types at places `P`, in order of rank. A type has a higher rank than the types inside it. Each
/// entry has the paths to it whose strides no other path to it covers ([`is_covered`]).
pub(super) struct Pending<P> {
    by_rank: BTreeMap<(u32, P), (TypeIndex, Vec<Way>)>,
}

impl<P: Ord> Pending<P> {
    pub(super) fn new() -> Self {
        Pending { by_rank: BTreeMap::new() }
    }

    /// Adds a path to `ty` at `place`. Returns the number of paths that the entry had before.
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

    /// Removes and returns an entry whose type has the highest rank, with the paths to it.
    pub(super) fn pop(&mut self) -> Option<(TypeIndex, P, Vec<Way>)> {
        let ((_, place), (ty, ways)) = self.by_rank.pop_last()?;
        Some((ty, place, ways))
    }
}

//! What the traversals of the types have in common.
//!
//! A traversal visits a type only after everything that contains it, so that
//! whatever arrives at one place by different paths is merged before it goes
//! on.

use std::collections::BTreeMap;
use std::hash::Hash;

use super::arena::Link;
use super::stride::{Stride, UNBOUNDED, is_covered, span};
use super::types::{TypeIndex, Types, elements};
use crate::oracle::limits::{Budget, Exhausted};
use crate::table::{HashMap, HashSet, IndexMap};

/// The farthest that a target lies below a type.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Reach {
    /// In bytes of collapsed offset.
    pub(crate) collapsed: u128,
    /// In bytes of displacement.
    pub(crate) displaced: u128,
}

/// Finds the types under `base` that contain a target or are one, in time
/// linear in the types under `base`.
pub(crate) fn reach(
    types: &Types,
    base: TypeIndex,
    is_target: impl Fn(TypeIndex) -> bool,
    budget: &mut Budget,
) -> Result<HashMap<TypeIndex, Reach>, Exhausted> {
    let mut seen = HashSet::from([base]);
    let mut below = vec![base];
    let mut next = 0;
    while let Some(&ty) = below.get(next) {
        next += 1;
        budget.spend()?;
        budget.look(types.fields(ty).len())?;
        for field in types.fields(ty) {
            if seen.insert(field.ty) {
                below.push(field.ty);
            }
        }
    }
    below.sort_unstable_by_key(|&ty| types.get(ty).rank);
    let mut reach = HashMap::<TypeIndex, Reach>::new();
    for ty in below {
        let mut farthest = is_target(ty).then(Reach::default);
        for field in types.fields(ty) {
            let Some(inside) = reach.get(&field.ty) else { continue };
            let offset = u128::from(field.offset);
            let array =
                elements(types, field, UNBOUNDED).map_or(0, |elements| span(&[elements.stride]));
            let farthest = farthest.get_or_insert_default();
            farthest.collapsed = farthest.collapsed.max(offset + inside.collapsed);
            let displaced = (offset + array + inside.displaced).min(UNBOUNDED);
            farthest.displaced = farthest.displaced.max(displaced);
        }
        if let Some(farthest) = farthest {
            reach.insert(ty, farthest);
        }
    }
    Ok(reach)
}

/// One way to a place.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    /// The arrays around the innermost one; in a displaced path all arrays.
    pub(crate) outer: Vec<Stride>,
    pub(crate) link: Link,
    pub(crate) prefix_link: Link,
}

/// Places by type, those with the highest rank first, and at each place the
/// ways that no other way covers.
pub(crate) struct Pending<P> {
    by_rank: BTreeMap<u32, (TypeIndex, IndexMap<P, Vec<Way>>)>,
}

impl<P: Eq + Hash> Pending<P> {
    pub(crate) fn new() -> Self {
        Pending { by_rank: BTreeMap::new() }
    }

    /// Adds a way, and returns with how many others it was compared.
    pub(crate) fn add(&mut self, types: &Types, ty: TypeIndex, place: P, way: Way) -> usize {
        let (_, places) =
            self.by_rank.entry(types.get(ty).rank).or_insert_with(|| (ty, IndexMap::default()));
        let ways = places.entry(place).or_default();
        let others = ways.len();
        if !ways.iter().any(|other| is_covered(&way.outer, &other.outer)) {
            ways.retain(|other| !is_covered(&other.outer, &way.outer));
            ways.push(way);
        }
        others
    }

    pub(crate) fn pop(&mut self) -> Option<(TypeIndex, IndexMap<P, Vec<Way>>)> {
        self.by_rank.pop_last().map(|(_, entry)| entry)
    }
}

//! What lies inside a type: each list is found once, by a search, and looked up
//! by queries.

use std::hash::Hash;
use std::ops::Range;

use super::limits::{Allowance, Budget, Exhausted, LISTED, LISTED_A_NODE, LISTED_A_TYPE};
use crate::table::HashMap;
use crate::type_set::LargeTypeSet;

/// Lists of the types inside some others, with what `P` says of each. `K` names
/// a list: the outer type, say.
#[derive(Clone, Debug)]
pub(super) struct Inside<K, P> {
    /// The number of each list; `None` where the search found no end.
    known: HashMap<K, Option<u32>>,
    /// Where the entries of each stand, and a set of their types.
    lists: Vec<(Range<u32>, LargeTypeSet)>,
    /// An inner type and what is known of it; each list ascends by type.
    entries: Vec<(u32, P)>,
    /// Where the entries of a list's type begin, and how many there are.
    of_types: HashMap<(u32, u32), (u32, u32)>,
    allowance: Allowance,
}

impl<K, P> Default for Inside<K, P> {
    fn default() -> Self {
        let (known, lists, entries, of_types) = Default::default();
        let allowance = Allowance::new(LISTED, LISTED_A_NODE);
        Inside { known, lists, entries, of_types, allowance }
    }
}

impl<K: Eq + Hash, P> Inside<K, P> {
    /// Returns the number of a list, which `search` finds if it is not known;
    /// `None` if it is too long. `nodes` is the size of the graph.
    pub(super) fn add(
        &mut self,
        key: K,
        nodes: usize,
        search: impl FnOnce(&mut Budget) -> Result<Vec<(u32, P)>, Exhausted>,
    ) -> Option<u32> {
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let found = self.allowance.within(nodes, LISTED_A_TYPE, search).ok();
        let number = found.map(|mut found| {
            found.sort_by_key(|&(inner, _)| inner);
            let first = self.entries.len() as u32;
            let (mut all, mut at) = (LargeTypeSet::default(), first);
            for of_type in found.chunk_by(|a, b| a.0 == b.0) {
                let (ty, count) = (of_type[0].0, of_type.len() as u32);
                self.of_types.insert((self.lists.len() as u32, ty), (at, count));
                all.add(ty);
                at += count;
            }
            self.entries.extend(found);
            self.lists.push((first..self.entries.len() as u32, all));
            self.lists.len() as u32 - 1
        });
        self.known.insert(key, number);
        number
    }

    /// Whether some search had fewer steps than on a larger graph.
    pub(super) fn was_short(&self) -> bool {
        self.allowance.was_short
    }

    /// Returns the list of a number.
    pub(super) fn list(&self, number: u32) -> &[(u32, P)] {
        let Range { start, end } = self.lists[number as usize].0;
        &self.entries[start as usize..end as usize]
    }

    /// Returns the entries of type `inner` in the list of a number.
    pub(super) fn of_type(&self, number: u32, inner: u32) -> &[(u32, P)] {
        let &(first, count) = self.of_types.get(&(number, inner)).unwrap_or(&(0, 0));
        &self.entries[first as usize..(first + count) as usize]
    }

    /// Returns the types in the list of a number.
    pub(super) fn types(&self, number: u32) -> LargeTypeSet {
        self.lists[number as usize].1
    }
}

/// Returns the distinct types in a list.
pub(super) fn types<P>(list: &[(u32, P)]) -> impl Iterator<Item = u32> + '_ {
    list.chunk_by(|a, b| a.0 == b.0).map(|same| same[0].0)
}

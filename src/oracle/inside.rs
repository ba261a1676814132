//! What lies inside a type: each type's list is found once, by a search, and
//! looked up by queries.

use std::ops::Range;

use super::limits::{LISTED, LISTED_A_NODE, LISTED_A_TYPE};
use crate::table::HashMap;

/// For some outer types, the types inside each, with what `P` says of them.
#[derive(Clone, Debug)]
pub(super) struct Inside<P> {
    /// Where an outer type's entries stand; `None` if they are too many.
    lists: HashMap<u32, Option<Range<u32>>>,
    /// An inner type and what is known of it; each list ascends by type.
    entries: Vec<(u32, P)>,
}

impl<P> Default for Inside<P> {
    fn default() -> Self {
        Inside { lists: HashMap::default(), entries: Vec::new() }
    }
}

impl<P> Inside<P> {
    /// Makes the list of `outer`, if there is none yet. `search` lists what is
    /// inside; it gets the number of entries and of steps after which to give
    /// up, and returns `None` then. `nodes` is the size of the graph. Returns
    /// whether there is a list.
    pub(super) fn add(
        &mut self,
        outer: u32,
        nodes: usize,
        search: impl FnOnce(usize) -> Option<Vec<(u32, P)>>,
    ) -> bool {
        if let Some(known) = self.lists.get(&outer) {
            return known.is_some();
        }
        let room = (LISTED + LISTED_A_NODE * nodes).saturating_sub(self.entries.len());
        let list = search(room.min(LISTED_A_TYPE)).map(|mut found| {
            found.sort_by_key(|&(inner, _)| inner);
            let first = self.entries.len() as u32;
            self.entries.extend(found);
            first..self.entries.len() as u32
        });
        let is_some = list.is_some();
        self.lists.insert(outer, list);
        is_some
    }

    /// Returns the list of `outer`; `None` if it has none.
    pub(super) fn list(&self, outer: u32) -> Option<&[(u32, P)]> {
        let range = self.lists.get(&outer)?.as_ref()?;
        Some(&self.entries[range.start as usize..range.end as usize])
    }
}

/// Returns the entries of type `inner` in a list.
pub(super) fn of_type<P>(list: &[(u32, P)], inner: u32) -> &[(u32, P)] {
    let start = list.partition_point(|&(ty, _)| ty < inner);
    let len = list[start..].partition_point(|&(ty, _)| ty == inner);
    &list[start..start + len]
}

/// Returns the distinct types in a list.
pub(super) fn types<P>(list: &[(u32, P)]) -> impl Iterator<Item = u32> + '_ {
    list.chunk_by(|a, b| a.0 == b.0).map(|same| same[0].0)
}

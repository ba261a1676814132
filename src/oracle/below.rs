//! Which types lie inside others, where queries ask.

use super::filter::Filter;
use crate::table::{HashMap, HashSet};

/// The types inside some types, each found once by a search.
#[derive(Clone, Debug, Default)]
pub(super) struct Below {
    pairs: HashSet<(u32, u32)>,
    /// The types inside one; `None` where the search did not come to its end.
    known: HashMap<u32, Option<Filter>>,
}

/// Types inside one type. The largest struct of a real program holds some
/// hundreds.
const TYPES: usize = 1 << 14;

/// Entries for each node of the graph, on average. Real modules need less than
/// one; a chain of structs each of which is copied whole needs half its length.
const SHARE: usize = 16;

impl Below {
    /// Looks up the types inside `ty`, with itself. `search` lists them, with
    /// repetitions or without; it gets the number after which to give up, and
    /// returns `None` when it must. `nodes` is the size of the graph.
    pub(super) fn add(
        &mut self,
        ty: u32,
        nodes: usize,
        search: impl FnOnce(usize) -> Option<Vec<u32>>,
    ) -> bool {
        if let Some(known) = self.known.get(&ty) {
            return known.is_some();
        }
        let room = (TYPES + SHARE * nodes).saturating_sub(self.pairs.len());
        let found = search(TYPES.min(room)).map(|found| {
            let mut filter = Filter::default();
            found.iter().for_each(|&inside| filter.add(inside));
            self.pairs.extend(found.into_iter().map(|inside| (ty, inside)));
            filter
        });
        self.known.insert(ty, found);
        found.is_some()
    }

    /// Returns the filter that the types inside `ty` pass.
    pub(super) fn filter(&self, ty: u32) -> Filter {
        self.known.get(&ty).copied().flatten().unwrap_or(Filter::ALL)
    }

    /// Returns whether `inside` was found in `ty`.
    pub(super) fn contains(&self, ty: u32, inside: u32) -> bool {
        self.pairs.contains(&(ty, inside))
    }
}

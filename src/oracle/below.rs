//! Which types lie inside others, where queries ask.

use crate::table::HashMap;
use crate::table::HashSet;

/// The types inside some types, each found once by a search.
#[derive(Clone, Debug, Default)]
pub(super) struct Below {
    pairs: HashSet<(u32, u32)>,
    /// Whether the search from a type came to its end.
    known: HashMap<u32, bool>,
}

/// Types inside one type. The largest of DuckDB's 84,782 types holds some
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
        if let Some(&known) = self.known.get(&ty) {
            return known;
        }
        let room = (TYPES + SHARE * nodes).saturating_sub(self.pairs.len());
        let found = search(TYPES.min(room));
        self.known.insert(ty, found.is_some());
        let found = found.into_iter().flatten();
        self.pairs.extend(found.map(|inside| (ty, inside)));
        self.known[&ty]
    }

    /// Returns whether `inside` was found in `ty`.
    pub(super) fn contains(&self, ty: u32, inside: u32) -> bool {
        self.pairs.contains(&(ty, inside))
    }
}

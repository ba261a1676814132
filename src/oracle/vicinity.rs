//! Which of many tags one may alias at most, found without asking about each.
//!
//! Two indexed tags of one root may alias only if one's walk comes to the other's
//! base type, or an irregular one names the other's base as a candidate. So tags
//! are listed by their bases, by the types on their walks, and by the candidates;
//! those that the index does not know are listed for every tag. What is found is
//! to be asked about.

use std::borrow::Borrow;

use super::index::Role;
use super::query::Oracle;
use crate::graph::{Graph, TagId};
use crate::table::HashMap;

/// Types on a tag's walk and among its candidates; with more, a tag is listed for
/// every other.
const MOST: usize = 256;

/// A list of tags that grows, each with a number of the caller's, for one oracle.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct Vicinity {
    /// The oracle whose types these are.
    oracle: Option<u64>,
    by_base: HashMap<u32, Vec<u32>>,
    by_walk: HashMap<u32, Vec<u32>>,
    by_candidate: HashMap<u32, Vec<u32>>,
    everywhere: Vec<u32>,
}

/// The types that a tag is listed by.
struct Types {
    base: u32,
    walk: Vec<u32>,
    candidates: Vec<u32>,
}

impl Types {
    /// Returns the types of a tag; `None` if it is listed everywhere.
    fn of<G: Borrow<Graph>>(oracle: &Oracle<G>, tag: TagId) -> Option<Types> {
        let index = oracle.index();
        let (cursor, mut candidates) = match oracle.role(tag) {
            Role::Regular(_, cursor) => (cursor, Vec::new()),
            Role::Irregular(_, cursor, _) => (cursor, oracle.candidates(tag)?.bases),
            Role::Rejected | Role::Unindexed(_) => return None,
        };
        let mut walk: Vec<u32> = index.walks.types_from(cursor).take(MOST + 1).collect();
        for types in [&mut walk, &mut candidates] {
            types.sort_unstable();
            types.dedup();
        }
        let few = walk.len() <= MOST && candidates.len() <= MOST;
        few.then(|| Types { base: index.walks.ty(cursor), walk, candidates })
    }
}

impl Vicinity {
    /// Returns whether the list was made with this oracle.
    #[doc(hidden)]
    pub fn is_of<G: Borrow<Graph>>(&self, oracle: &Oracle<G>) -> bool {
        self.oracle == Some(oracle.identity())
    }

    /// Returns an empty list for an oracle.
    #[doc(hidden)]
    pub fn new<G: Borrow<Graph>>(oracle: &Oracle<G>) -> Vicinity {
        Vicinity { oracle: Some(oracle.identity()), ..Vicinity::default() }
    }

    /// Adds a number for every tag.
    #[doc(hidden)]
    pub fn add_everywhere(&mut self, number: u32) {
        self.everywhere.push(number);
    }

    /// Adds a tag.
    #[doc(hidden)]
    pub fn add<G: Borrow<Graph>>(&mut self, oracle: &Oracle<G>, tag: TagId, number: u32) {
        let Some(types) = Types::of(oracle, tag) else { return self.add_everywhere(number) };
        self.by_base.entry(types.base).or_default().push(number);
        for ty in types.walk {
            self.by_walk.entry(ty).or_default().push(number);
        }
        for ty in types.candidates {
            self.by_candidate.entry(ty).or_default().push(number);
        }
    }

    /// Returns the numbers of the tags that one may alias at most, in ascending
    /// order; `None` if of all.
    #[doc(hidden)]
    pub fn of<G: Borrow<Graph>>(&self, oracle: &Oracle<G>, tag: TagId) -> Option<Vec<u32>> {
        let types = Types::of(oracle, tag)?;
        let mut found = self.everywhere.clone();
        let mut add = |list: Option<&Vec<u32>>| found.extend(list.into_iter().flatten());
        add(self.by_walk.get(&types.base));
        add(self.by_candidate.get(&types.base));
        types.walk.iter().chain(&types.candidates).for_each(|ty| add(self.by_base.get(ty)));
        found.sort_unstable();
        found.dedup();
        Some(found)
    }
}

//! Finds a superset of the tags that a tag may alias, without a query for each tag.
//!
//! A tag is *regular* if only one path leads from its base type to the scalar that it accesses. Its
//! *walk* is the list of types on this path, and then the scalar's ancestors. Two regular tags of
//! one root may alias only if the walk of one contains the first type of the other walk. Any other
//! two tags of one root may alias only if one base type may contain the other.

use std::borrow::Borrow;

use super::grow::Oracle;
use super::index::Role;
use super::rule::Candidates;
use super::types::TypeIndex;
use crate::access::Access;
use crate::graph::Graph;
use crate::table::HashMap;

/// The most types on a walk or in a base type. A tag with more counts as one that may alias all.
const MOST: usize = 256;

/// Tags by their base types, and these base types by the types that they contain.
#[derive(Clone, Debug, Default)]
struct ByBase {
    tags: HashMap<TypeIndex, Vec<u32>>,
    holders: HashMap<TypeIndex, Vec<TypeIndex>>,
    /// The tags whose [`Base`] is `None`.
    unknown: Vec<u32>,
}

impl ByBase {
    fn add(&mut self, base: &Base, number: u32) {
        let Some((base, held)) = base else { return self.unknown.push(number) };
        let tags = self.tags.entry(*base).or_default();
        if tags.is_empty() {
            held.iter().for_each(|&ty| self.holders.entry(ty).or_default().push(*base));
        }
        tags.push(number);
    }

    /// Adds to `found` the tags whose base type is inside `base`, contains it, or is unknown. Adds
    /// all tags if `base` is unknown.
    fn find(&self, base: &Base, found: &mut Vec<u32>) {
        found.extend(&self.unknown);
        match base {
            None => found.extend(self.tags.values().flatten()),
            Some((base, held)) => {
                let holders = self.holders.get(base).into_iter().flatten();
                let tags = held.iter().chain(holders).filter_map(|ty| self.tags.get(ty));
                found.extend(tags.flatten());
            }
        }
    }
}

/// A base type, with a list of this type, the types in it and all their ancestors. `None` if the
/// base type is unknown.
type Base = Option<(TypeIndex, Vec<TypeIndex>)>;

/// A growing list of accesses for one oracle. The caller gives each access a number.
#[derive(Clone, Debug, Default)]
pub struct Vicinity {
    oracle: Option<u64>,
    /// Regular tags by the first type of their walks. `by_walk` has them by each type on the walks.
    by_start: HashMap<u32, Vec<u32>>,
    by_walk: HashMap<u32, Vec<u32>>,
    all: ByBase,
    /// The tags that are not regular, by their base types.
    others: ByBase,
    everywhere: Vec<u32>,
    by_root: HashMap<u32, Vec<u32>>,
}

/// The properties of a tag by which it is listed.
struct Listed {
    /// The root as the index numbers it. Tags with different numbers may alias.
    root: u32,
    base: Base,
    /// The types on the walk, for a regular tag.
    walk: Option<Vec<u32>>,
}

impl Listed {
    /// Returns the properties of an access, or `None` if it counts as aliasing everything.
    fn of<G: Borrow<Graph>>(oracle: &Oracle<G>, access: Access) -> Option<Listed> {
        let tag = access.tag.filter(|_| access.size.is_none())?;
        let index = &oracle.index;
        let (root, regular) =
            match (oracle.candidates(tag, &mut { u64::MAX }), index.role(tag.index)) {
                (Candidates::Everything, _) | (_, Role::Rejected) => return None,
                (_, Role::Regular(root, cursor)) => (root, Some(cursor)),
                (Candidates::Unknown, Role::Other(..)) => return None,
                (Candidates::Base(_), Role::Other(root, _)) => (root, None),
            };
        let walk = |cursor| index.walks.types_from(cursor).take(MOST + 1).collect::<Vec<_>>();
        let walk = regular.map(walk);
        if walk.as_ref().is_some_and(|walk| walk.len() > MOST) {
            return None;
        }
        let base = match index.base(tag.index) {
            Some(base) => Some((base, index.types.held(base, MOST)?)),
            None => None,
        };
        Some(Listed { root, base, walk })
    }
}

impl Vicinity {
    /// Returns whether the list was made with this oracle.
    pub fn is_of<G: Borrow<Graph>>(&self, oracle: &Oracle<G>) -> bool {
        self.oracle == Some(oracle.identity)
    }

    /// Returns an empty list for an oracle.
    pub fn new<G: Borrow<Graph>>(oracle: &Oracle<G>) -> Vicinity {
        Vicinity { oracle: Some(oracle.identity), ..Vicinity::default() }
    }

    /// Adds an access. If it has a size of its own, it counts as one that may alias everything.
    pub fn add<G>(&mut self, oracle: &Oracle<G>, access: impl Into<Access>, number: u32)
    where
        G: Borrow<Graph>,
    {
        let Some(Listed { root, base, walk }) = Listed::of(oracle, access.into()) else {
            return self.everywhere.push(number);
        };
        self.by_root.entry(root).or_default().push(number);
        self.all.add(&base, number);
        let Some(walk) = walk else { return self.others.add(&base, number) };
        self.by_start.entry(walk[0]).or_default().push(number);
        for ty in walk {
            self.by_walk.entry(ty).or_default().push(number);
        }
    }

    /// Returns the numbers of all accesses that may alias `access`, and perhaps of others, in
    /// ascending order. Returns `None` if `access` counts as one that may alias everything.
    pub fn of<G>(&self, oracle: &Oracle<G>, access: impl Into<Access>) -> Option<Vec<u32>>
    where
        G: Borrow<Graph>,
    {
        let Listed { root, base, walk } = Listed::of(oracle, access.into())?;
        let mut found = self.everywhere.clone();
        let of_others = self.by_root.iter().filter(|&(&other, _)| other != root);
        found.extend(of_others.flat_map(|(_, numbers)| numbers));
        match walk {
            None => self.all.find(&base, &mut found),
            Some(walk) => {
                self.others.find(&base, &mut found);
                found.extend(self.by_walk.get(&walk[0]).into_iter().flatten());
                found.extend(walk.iter().filter_map(|ty| self.by_start.get(ty)).flatten());
            }
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }
}

//! A rule indexes tags, decides queries and explains answers. A tag's *walk* visits types from its
//! base type on. A *cursor* is a type and offset on a walk.

use super::clause::Clause;
use super::explain::ByteRange;
use super::index::Index;
use super::types::TypeIndex;
use crate::access::Access;
use crate::graph::{Graph, Tag, TagId};

#[derive(Clone, Copy)]
pub(super) struct Indexed<'i> {
    pub(super) graph: &'i Graph,
    pub(super) index: &'i Index,
}

/// A rule, with data about a graph's tags besides the index. All functions must be called with the
/// graph and the index to which [`Rule::add`] added the tags.
pub(super) trait Rule {
    /// Adds the next tag of the graph to the index.
    fn add(&mut self, graph: &Graph, index: &mut Index, tag: TagId);

    /// Returns the accesses that a tag may alias, judged by types alone. A search subtracts its
    /// steps from `left`. If none are left, the result may be [`Candidates::Everything`].
    fn candidates(&self, index: &Index, tag: TagId, left: &mut u64) -> Candidates;

    /// Decides a query by cursors, if at least one access has its own size. Returns `None` if the
    /// cursors do not decide.
    fn by_cursor(&self, index: &Index, pair: (Access, Access)) -> Option<bool>;

    /// Decides a query that the index does not decide, by base types. Returns `None` if the
    /// definition must decide. A search for a tag's paths subtracts its steps from `left`.
    fn by_base(&self, index: &Index, pair: (Access, Access), left: &mut u64) -> Option<bool>;

    /// Decides by the rule's definition. If `why` is true, the result has an example of the paths.
    fn decide(&self, of: Indexed<'_>, pair: (Access, Access), why: bool) -> Decision;

    /// Returns the tag for an access that replaces two others. The caller must set `immutable`.
    fn most_generic(&self, of: Indexed<'_>, a: TagId, b: TagId) -> Option<Tag>;

    /// Returns whether the tag is well formed according to this rule, or `None` if the search
    /// reached its limit or the steps in `left` ran out.
    fn is_well_formed(&self, of: Indexed<'_>, tag: TagId, left: &mut u64) -> Option<bool>;
}

/// The accesses that a tag may alias, judged by types alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Candidates {
    /// Accesses of other roots, and those whose base type may be inside this type or contain it.
    Base(TypeIndex),
    /// Types alone do not decide, so each pair must be queried.
    Unknown,
    Everything,
}

/// An answer. The clause that decided determines it.
#[derive(Debug)]
pub(super) struct Decision {
    pub(super) clause: Clause,
    pub(super) meeting: Option<Meeting>,
    pub(super) steps: u32,
}

impl Decision {
    pub(super) fn is_may(&self) -> bool {
        !self.clause.is_no_alias()
    }
}

impl From<Clause> for Decision {
    fn from(clause: Clause) -> Self {
        Decision { clause, meeting: None, steps: 0 }
    }
}

/// An example of the paths compared. If any overlap, these do. A path is a list of steps, each
/// with a type's node and the number of one of its fields.
#[derive(Debug)]
pub(super) struct Meeting {
    /// True if the paths start at the base type of the query's second access, not of its first.
    pub(super) from_b: bool,
    pub(super) base: u32,
    /// The path from the base type to the bytes of one access.
    pub(super) p: Vec<(u32, usize)>,
    /// The path from the base type to an object of the base type of the other access.
    pub(super) q: Vec<(u32, usize)>,
    /// The path from that object to the bytes of the other access.
    pub(super) r: Vec<(u32, usize)>,
    /// The bytes at the end of `p`, and those at the end of `q` followed by `r`.
    pub(super) bytes: Option<(ByteRange, ByteRange)>,
}

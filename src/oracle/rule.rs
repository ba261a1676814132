//! A rule indexes tags, decides queries and explains answers. `index.rs` defines cursors and walks.

use super::clause::Clause;
use super::explain::ByteRange;
use super::index::Index;
use super::types::TypeIndex;
use crate::access::Access;
use crate::graph::{Graph, Tag, TagId};

/// A graph and the index of its tags.
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

    /// Returns the accesses that a tag may alias according to types. A search for them is cached,
    /// and subtracts its steps from `left`. If none are left, returns [`Candidates::Everything`].
    fn candidates(&self, index: &Index, tag: TagId, left: &mut u64) -> Candidates;

    /// Decides a query by cursors, if at least one access has its own size. Returns `None` if an
    /// access may touch more or less than the scalar at the end of its tag's walk.
    fn by_cursor(&self, index: &Index, pair: (Access, Access)) -> Option<bool>;

    /// Decides a query that the index does not decide, by base types. Returns `None` if the
    /// definition must decide. A search for a tag's paths subtracts its steps from `left`.
    fn by_base(&self, index: &Index, pair: (Access, Access), left: &mut u64) -> Option<bool>;

    /// Decides by the rule's definition. If `why` is true, the result has the compared paths.
    fn decide(&self, of: Indexed<'_>, pair: (Access, Access), why: bool) -> Decision;

    /// Returns the tag for an access that replaces two others. Its immutability is not computed.
    fn most_generic(&self, of: Indexed<'_>, a: TagId, b: TagId) -> Option<Tag>;

    /// Returns whether the tag is well formed according to this rule, or `None` if the search
    /// reached its limit or the steps in `left` ran out.
    fn is_well_formed(&self, of: Indexed<'_>, tag: TagId, left: &mut u64) -> Option<bool>;
}

/// The accesses that a tag may alias, judged by types alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Candidates {
    /// Accesses to objects that may be inside this base type or contain it.
    Base(TypeIndex),
    /// Types alone do not decide, so each pair must be queried.
    Unknown,
    /// Every access.
    Everything,
}

/// An answer. The clause that decided determines it.
#[derive(Debug)]
pub(super) struct Decision {
    pub(super) clause: Clause,
    pub(super) meeting: Option<Meeting>,
    /// The number of steps that the search took.
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

/// The paths that were compared last. A path is a list of types (node indices) and field numbers.
#[derive(Debug)]
pub(super) struct Meeting {
    /// True if the paths start at the base type of `b`, and not at that of `a`.
    pub(super) from_b: bool,
    pub(super) base: u32,
    /// The path from the base type to the bytes of one access.
    pub(super) p: Vec<(u32, usize)>,
    /// The path from the base type to an object that contains the other access.
    pub(super) q: Vec<(u32, usize)>,
    /// The path from that object to the bytes of the other access.
    pub(super) r: Vec<(u32, usize)>,
    /// The bytes at the end of `p`, and those at the end of `q` followed by `r`.
    pub(super) bytes: Option<(ByteRange, ByteRange)>,
}

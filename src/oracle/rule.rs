//! A rule: it indexes tags, decides on pairs, and explains.

use super::clause::Clause;
use super::explain::ByteRange;
use super::index::Index;
use super::types::TypeIndex;
use crate::access::Access;
use crate::graph::{Graph, Tag, TagId};

/// A graph, and the index of its tags.
#[derive(Clone, Copy)]
pub(super) struct Indexed<'i> {
    pub(super) graph: &'i Graph,
    pub(super) index: &'i Index,
}

/// A rule, with its knowledge of a graph's tags besides the index. The graph and the index are
/// always those to which [`Rule::add`] added the tags.
pub(super) trait Rule {
    /// Adds the graph's next tag to the index.
    fn add(&mut self, graph: &Graph, index: &mut Index, tag: TagId);

    /// Returns what a tag may alias by its types. Results of a search are cached. The search takes
    /// its steps from `left`; if none are left the tag may alias everything.
    fn candidates(&self, index: &Index, tag: TagId, left: &mut u64) -> Candidates;

    /// Decides on two accesses, at least one with its own size, by the cursors of their tags.
    /// `None` if one may touch more or less than the scalar at the end of its tag's walk.
    fn by_cursor(&self, index: &Index, pair: (Access, Access)) -> Option<bool>;

    /// Decides on two accesses that the index leaves open, by their base types; `None` leaves them
    /// to the definition. A search for a tag's paths takes its steps from `left`.
    fn by_base(&self, index: &Index, pair: (Access, Access), left: &mut u64) -> Option<bool>;

    /// Decides by the definition. `why` asks for the compared paths.
    fn decide(&self, of: Indexed<'_>, pair: (Access, Access), why: bool) -> Decision;

    /// Returns the tag for an access that replaces two others, without its immutability.
    fn most_generic(&self, of: Indexed<'_>, a: TagId, b: TagId) -> Option<Tag>;

    /// Returns whether the tag is well formed by this rule; `None` if the definition's limit or the
    /// steps in `left` ran out.
    fn is_well_formed(&self, of: Indexed<'_>, tag: TagId, left: &mut u64) -> Option<bool>;
}

/// The tags that a tag may alias, according to types alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Candidates {
    /// Accesses to objects that may be inside this base type, or that may contain it.
    Base(TypeIndex),
    /// Types alone do not decide: each pair must be queried.
    Unknown,
    /// Every access.
    Everything,
}

/// An answer, given by its clause.
#[derive(Debug)]
pub(super) struct Decision {
    pub(super) clause: Clause,
    pub(super) meeting: Option<Meeting>,
    /// Steps that the search took.
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

/// The paths that were compared last, each a list of types (by node index) and field numbers.
#[derive(Debug)]
pub(super) struct Meeting {
    /// True if the paths start from `b`'s base type, not `a`'s.
    pub(super) from_b: bool,
    pub(super) base: u32,
    /// From the base type to the bytes of one access.
    pub(super) p: Vec<(u32, usize)>,
    /// From the base type to an object of the other access,
    pub(super) q: Vec<(u32, usize)>,
    /// and from there to the bytes of that access.
    pub(super) r: Vec<(u32, usize)>,
    /// The bytes at the ends of p, and of q and r.
    pub(super) bytes: Option<(ByteRange, ByteRange)>,
}

//! What a rule is: how a tag is indexed, how a pair is decided, and why.

use super::access::Access;
use super::bytes::ByteRange;
use super::clause::Clause;
use super::index::Index;
use crate::graph::{Graph, Tag, TagId};

/// A rule, with what it knows of a graph's tags beside the index. The graph and
/// the index are always those to which [`Rule::add`] added the tags.
pub(super) trait Rule {
    /// Adds the graph's next tag to the index. Returns whether it was judged with
    /// as many steps as the definition has; else it may alias everything.
    fn add(&mut self, graph: &Graph, index: &mut Index, tag: TagId) -> bool;

    /// Whether some tag was judged with fewer steps than it would be in a larger
    /// graph. Else the tables depend on the tags alone, not on when each was added.
    fn was_short(&self) -> bool;

    /// Decides on two tags of one root that are not both regular and neither of
    /// which is rejected; `None` leaves them to the definition.
    fn decide(&self, graph: &Graph, index: &Index, a: TagId, b: TagId) -> Option<bool>;

    /// Decides on two accesses of which at least one has a size of its own; `None`
    /// leaves them to the definition.
    fn decide_sized(&self, graph: &Graph, index: &Index, pair: (Access, Access)) -> Option<bool>;

    /// Decides by the definition, in so many steps of a search.
    fn define(&self, graph: &Graph, index: &Index, pair: (Access, Access), steps: u32) -> Decision;

    /// As [`Rule::define`], with the paths that a reader wants to see.
    fn explain(&self, graph: &Graph, index: &Index, pair: (Access, Access), steps: u32)
    -> Decision;

    /// Says which tags of its root an irregular tag may alias at most; `None` if
    /// any.
    fn candidates(&self, index: &Index, tag: TagId) -> Option<Candidates>;

    /// Returns what the tag of an access that replaces two others says, as far as
    /// it is not about immutability.
    fn most_generic(&self, graph: &Graph, index: &Index, a: TagId, b: TagId) -> Option<Tag>;

    /// Whether the rule takes a tag for well formed; `None` where the definition's
    /// limit was reached.
    fn is_well_formed(&self, graph: &Graph, tag: TagId) -> Option<bool>;
}

/// Which tags an irregular tag may alias at most: those with one of these base
/// types, and those whose walk comes to the tag's own base type.
pub(super) struct Candidates {
    /// May hold a type twice.
    pub(super) bases: Vec<u32>,
    /// The tag's base type.
    pub(super) base: u32,
}

/// An answer, by the clause that gives it.
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

/// The paths that were compared last, each a list of types, by the indices of
/// their nodes, and field numbers.
#[derive(Debug)]
pub(super) struct Meeting {
    /// Whether the paths start from `b`'s base type, not `a`'s.
    pub(super) from_b: bool,
    pub(super) base: u32,
    /// From the base type to what the one access touches.
    pub(super) p: Vec<(u32, usize)>,
    /// From the base type to an object of the other access,
    pub(super) q: Vec<(u32, usize)>,
    /// and from there to what that access touches.
    pub(super) r: Vec<(u32, usize)>,
    /// The bytes at the ends of p, and of q and r.
    pub(super) bytes: Option<(ByteRange, ByteRange)>,
}

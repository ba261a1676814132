//! Many pairs at once: one tag against many, and all pairs, a bit each in the order of [`Order`].

use std::borrow::Borrow;
use std::cell::Cell;

use fixedbitset::FixedBitSet;

use super::grow::Oracle;
use super::order::Order;
use crate::access::Access;
use crate::graph::{Graph, TagId};

/// The answers to all pairs of a list of tags.
///
/// ```
/// use tbaa::{Graph, Oracle, AliasRule};
///
/// let mut graph = Graph::new();
/// let mut b = graph.builder();
/// let root = b.root("R")?;
/// let char = b.scalar_type("char", root)?;
/// let int = b.scalar_type("int", char)?;
/// let float = b.scalar_type("float", char)?;
/// let mut tag = |ty| b.struct_tag(ty, ty, 0);
/// let tags = [tag(char)?, tag(int)?, tag(float)?];
///
/// let matrix = Oracle::new(&graph, AliasRule::Llvm).matrix(&tags);
/// assert!(matrix.may_alias(0, 1));
/// assert!(!matrix.may_alias(1, 2));
/// assert_eq!(matrix.count_may_alias(), 2, "of 3 pairs");
/// # Ok::<(), tbaa::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Matrix {
    /// Each tag's row and column.
    positions: Vec<u32>,
    /// The rows, one after the other.
    rows: FixedBitSet,
}

impl Matrix {
    /// Returns the number of tags.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Returns whether there is no tag.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Returns whether tags number `a` and `b` of the list may alias.
    ///
    /// # Panics
    ///
    /// If the list has no such tag.
    #[inline]
    pub fn may_alias(&self, a: usize, b: usize) -> bool {
        let (row, column) = (self.positions[a] as usize, self.positions[b] as usize);
        self.rows.contains(row * self.len() + column)
    }

    /// Returns the number of pairs of two different places in the list that may
    /// alias, each pair counted once.
    pub fn count_may_alias(&self) -> usize {
        // Every tag may alias itself.
        (self.rows.count_ones(..) - self.len()) / 2
    }
}

/// The pairs of a list of tags that may alias.
#[doc(hidden)]
pub struct Pairs(Order);

impl Pairs {
    /// Calls back once with the places in the list of each two that may alias.
    #[doc(hidden)]
    pub fn for_each(&self, mut found: impl FnMut(usize, usize)) {
        self.0.each_pair(|a, b| found(self.0.tag(a), self.0.tag(b)));
    }
}

impl<G: Borrow<Graph>> Oracle<G> {
    /// Returns whether `a` may alias each of `tags`, in their order.
    pub fn row(&self, a: impl Into<Access>, tags: &[TagId]) -> Vec<bool> {
        let a = a.into();
        tags.iter().map(|&tag| self.may_alias(a, tag)).collect()
    }

    /// Finds the pairs of `tags` that may alias, in time and memory proportional to the number of
    /// tags, and of the pairs that intervals do not decide. `ask` answers the latter.
    #[doc(hidden)]
    pub fn pairs(&self, tags: &[TagId], ask: impl Fn(TagId, TagId) -> bool) -> Pairs {
        Pairs(Order::asking(self, tags, &Cell::new(self.steps_to_compare()), ask))
    }

    /// Answers all pairs of `tags`, in a bit each. It takes `n^2 / 8` bytes for `n` tags.
    ///
    /// All searches of one call together take at most 2^23 steps and 2^10 for each node of the
    /// graph, about a second. The pairs left then are answered `MayAlias`; only graphs made
    /// to reach the limit do.
    pub fn matrix(&self, tags: &[TagId]) -> Matrix {
        let order = Order::new(self, tags);
        Matrix { positions: order.positions(), rows: order.rows() }
    }
}

//! Answers for many pairs of tags at once: one tag with many others, or all pairs of a list.

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
    /// For each tag of the list, the index of its row, which is also the index of its column.
    positions: Vec<u32>,
    /// The rows of the bit matrix, one after the other. A bit is set if the pair may alias.
    rows: FixedBitSet,
}

impl Matrix {
    /// Returns the number of tags.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Returns whether the list of tags is empty.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Returns whether the tags at positions `a` and `b` of the list may alias.
    ///
    /// # Panics
    ///
    /// If the list is too short for `a` or `b`.
    #[inline]
    pub fn may_alias(&self, a: usize, b: usize) -> bool {
        let (row, column) = (self.positions[a] as usize, self.positions[b] as usize);
        self.rows.contains(row * self.len() + column)
    }

    /// Returns the number of pairs that may alias. A pair consists of two different positions in
    /// the list, and each pair is counted once.
    pub fn count_may_alias(&self) -> usize {
        // Every tag may alias itself. These answers are on the diagonal and do not count.
        (self.rows.count_ones(..) - self.len()) / 2
    }
}

/// The pairs of tags in a list that may alias.
#[doc(hidden)]
pub struct Pairs(Order);

impl Pairs {
    /// Calls `found` once for each pair that may alias, with the positions of its tags in the list.
    #[doc(hidden)]
    pub fn for_each(&self, mut found: impl FnMut(usize, usize)) {
        self.0.each_pair(|a, b| found(self.0.tag(a), self.0.tag(b)));
    }
}

impl<G: Borrow<Graph>> Oracle<G> {
    /// Returns for each of `tags`, in order, whether `a` may alias it.
    pub fn row(&self, a: impl Into<Access>, tags: &[TagId]) -> Vec<bool> {
        let a = a.into();
        tags.iter().map(|&tag| self.may_alias(a, tag)).collect()
    }

    /// Finds the pairs of `tags` that may alias. The oracle's index decides most pairs, and `ask`
    /// decides the others.
    #[doc(hidden)]
    pub fn pairs(&self, tags: &[TagId], ask: impl Fn(TagId, TagId) -> bool) -> Pairs {
        Pairs(Order::asking(self, tags, &Cell::new(self.steps_to_compare()), ask))
    }

    /// Answers all pairs of `tags`, with one bit per answer: `n^2 / 8` bytes for `n` tags.
    ///
    /// Some pairs need a search through the types. All searches of one call together take at most
    /// about 2^23 steps, plus 2^10 for each node of the graph. After that, each pair that needs a
    /// search is answered `MayAlias`.
    pub fn matrix(&self, tags: &[TagId]) -> Matrix {
        let order = Order::new(self, tags);
        Matrix { positions: order.positions(), rows: order.rows() }
    }
}

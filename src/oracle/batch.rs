//! Many pairs at once: one tag against many, all pairs, and classes of tags
//! that answer alike.
//!
//! All pairs are answered 64 to a word, in the order of [`Order`].

use std::borrow::Borrow;

use super::order::{Bits, Order};
use super::{Access, Oracle};
use crate::graph::{Graph, TagId};
use crate::table::HashMap;

/// The answers to all pairs of a list of tags.
///
/// ```
/// use tbaa::{Graph, Oracle, Rules};
///
/// let mut graph = Graph::new();
/// let mut b = graph.builder();
/// let root = b.root("R")?;
/// let char = b.scalar_type("char", root)?;
/// let int = b.scalar_type("int", char)?;
/// let float = b.scalar_type("float", char)?;
/// let mut tag = |ty| b.struct_tag(ty, ty, 0, false);
/// let tags = [tag(char)?, tag(int)?, tag(float)?];
///
/// let matrix = Oracle::new(&graph, Rules::Llvm).matrix(&tags);
/// assert!(matrix.may_alias(0, 1));
/// assert!(!matrix.may_alias(1, 2));
/// assert_eq!(matrix.count_may_alias(), 2, "of 3 pairs");
/// # Ok::<(), tbaa::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Matrix {
    /// Each tag's row and column.
    positions: Vec<u32>,
    rows: Bits,
    /// Words in a row.
    stride: usize,
}

impl Matrix {
    /// Returns the number of tags.
    #[must_use]
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Returns whether there is no tag.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Returns whether tags number `a` and `b` of the list may alias.
    ///
    /// # Panics
    ///
    /// If the list has no such tag.
    #[inline]
    #[must_use]
    pub fn may_alias(&self, a: usize, b: usize) -> bool {
        let (row, column) = (self.positions[a] as usize, self.positions[b] as usize);
        self.rows.get(row * self.stride * 64 + column)
    }

    /// Returns the number of pairs of two different places in the list that may
    /// alias, each pair counted once.
    #[must_use]
    pub fn count_may_alias(&self) -> usize {
        // Every tag may alias itself.
        (self.rows.count() - self.len()) / 2
    }
}

/// Tags of a list that have the same answer in every query with a tag of the
/// list.
///
/// ```
/// use tbaa::{Graph, Oracle, Rules};
///
/// let mut graph = Graph::new();
/// let mut b = graph.builder();
/// let root = b.root("R")?;
/// let int = b.scalar_type("int", root)?;
/// let float = b.scalar_type("float", root)?;
/// let pair = b.struct_type("pair", &[(float, 0), (float, 4)])?;
/// let tags = [
///     b.struct_tag(int, int, 0, false)?,
///     b.struct_tag(float, float, 0, false)?,
///     b.struct_tag(int, int, 0, true)?,
///     b.struct_tag(pair, float, 0, false)?,
///     b.struct_tag(pair, float, 4, false)?,
/// ];
///
/// let classes = Oracle::new(&graph, Rules::Llvm).classes(&tags);
/// assert_eq!(classes.as_slice(), [0, 1, 0, 2, 3]);
/// assert_eq!(classes.representatives(), [0, 1, 3, 4]);
/// # Ok::<(), tbaa::BuildError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Classes {
    classes: Vec<u32>,
    representatives: Vec<u32>,
}

impl Classes {
    /// Returns the number of classes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.representatives.len()
    }

    /// Returns whether there is no class, for there is no tag.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.representatives.is_empty()
    }

    /// Returns each tag's class; classes are numbered from 0 in the order of
    /// their first tags.
    #[must_use]
    pub fn as_slice(&self) -> &[u32] {
        &self.classes
    }

    /// Returns the place in the list of the first tag of each class.
    #[must_use]
    pub fn representatives(&self) -> &[u32] {
        &self.representatives
    }
}

impl Order {
    pub(super) fn classes(&self) -> Classes {
        let mut by_print: HashMap<u128, u32> = HashMap::new();
        let mut found = Classes { classes: Vec::new(), representatives: Vec::new() };
        let prints = self.fingerprints();
        for (index, &position) in self.positions().iter().enumerate() {
            let next = found.representatives.len() as u32;
            let class = *by_print.entry(prints[position as usize]).or_insert(next);
            if class == next {
                found.representatives.push(index as u32);
            }
            found.classes.push(class);
        }
        found
    }
}

impl<G: Borrow<Graph>> Oracle<G> {
    /// Returns whether `a` may alias each of `tags`, in their order.
    #[must_use]
    pub fn row(&self, a: impl Into<Access>, tags: &[TagId]) -> Vec<bool> {
        let a = a.into();
        tags.iter().map(|&tag| self.may_alias(a, tag)).collect()
    }

    /// Answers all pairs of `tags`, in a bit each. It takes `n^2 / 8` bytes for
    /// `n` tags.
    #[must_use]
    pub fn matrix(&self, tags: &[TagId]) -> Matrix {
        let order = Order::new(self, tags);
        let stride = tags.len().div_ceil(64);
        Matrix { positions: order.positions(), rows: order.rows(stride), stride }
    }

    /// Finds the tags that answer alike in every query with one of `tags`. It
    /// takes time in proportion to the number of tags, and to the number of
    /// their base types again for each tag that only the rule's further tables
    /// decide on.
    ///
    /// Rows of answers are compared by fingerprints of 128 bits, keyed at
    /// random.
    #[must_use]
    pub fn classes(&self, tags: &[TagId]) -> Classes {
        Order::new(self, tags).classes()
    }
}

//! Many pairs at once: one tag against many, all pairs, and classes of tags
//! that answer alike.
//!
//! All pairs are answered 64 to a word. With the regular tags in the order of
//! their cursors' numbers, those that one of them may alias lie in a few
//! ranges: the tags below it, the tags at each cursor above it, and the tags of
//! other roots. What is not regular is asked pair by pair, once for both
//! orders.

use std::borrow::Borrow;
use std::hash::BuildHasher;
use std::ops::Range;

use super::{Access, Oracle};
use crate::graph::{Graph, TagId};
use crate::table::{DefaultHashBuilder, HashMap};

/// A list of answers, 64 to a word.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub(super) fn new(len: usize) -> Bits {
        Bits(vec![0; len.div_ceil(64)])
    }

    pub(super) fn bytes(&self) -> usize {
        8 * self.0.len()
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 != 0
    }

    pub(super) fn set(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }
}

/// Sets a range of bits.
fn fill(words: &mut [u64], range: Range<usize>) {
    let Range { start, end } = range;
    if start >= end {
        return;
    }
    let (first, last) = (start / 64, (end - 1) / 64);
    let (from, to) = (u64::MAX << (start % 64), u64::MAX >> (63 - (end - 1) % 64));
    if first == last {
        words[first] |= from & to;
        return;
    }
    words[first] |= from;
    words[first + 1..last].fill(u64::MAX);
    words[last] |= to;
}

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
        let all: usize = self.rows.0.iter().map(|word| word.count_ones() as usize).sum();
        // Every tag may alias itself.
        (all - self.len()) / 2
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

/// The tags at one cursor, in terms of positions.
struct Group {
    /// The tags at the cursor.
    own: Range<usize>,
    /// Past the tags at the cursors below.
    below: usize,
    /// The group next above.
    above: Option<usize>,
    /// The tags of its root.
    root: Range<usize>,
}

/// The order of a list's tags in which answers lie in ranges.
struct Order {
    /// Place in the list of each position: first those of regular tags.
    tags: Vec<u32>,
    /// Of each regular position.
    groups: Vec<u32>,
    table: Vec<Group>,
    /// For each position from the first not regular one on, the answers to all
    /// positions.
    others: Vec<Bits>,
}

impl Order {
    fn new<G: Borrow<Graph>>(oracle: &Oracle<G>, list: &[TagId]) -> Order {
        let spans = oracle.compiled.regular_spans(list.len().saturating_mul(list.len()));
        let place = |&index: &u32| {
            let tag = list[index as usize];
            let of_tag = (tag.stamp == oracle.stamp).then(|| spans(tag.index())).flatten();
            of_tag.map_or((u32::MAX, 0, 0), |(root, span)| (root, span.start, span.end))
        };
        let mut tags: Vec<u32> = (0..list.len() as u32).collect();
        tags.sort_by_cached_key(place);
        let places: Vec<_> = tags.iter().map(place).collect();
        let regular = places.partition_point(|&(root, ..)| root != u32::MAX);
        let mut order = Order { tags, groups: Vec::new(), table: Vec::new(), others: Vec::new() };
        order.group(&places[..regular]);
        order.others = (regular..list.len())
            .map(|position| {
                let mut row = Bits::new(list.len());
                let ask = |other: u32| {
                    let access = |index: u32| Access::from(list[index as usize]);
                    oracle.may_alias(access(order.tags[position]), access(other))
                };
                for (column, &other) in order.tags.iter().enumerate() {
                    if ask(other) {
                        row.set(column);
                    }
                }
                row
            })
            .collect();
        order
    }

    fn group(&mut self, places: &[(u32, u32, u32)]) {
        let mut open: Vec<usize> = Vec::new();
        let close = |table: &mut Vec<Group>, group: usize, at: usize| table[group].below = at;
        let mut at = 0;
        for of_root in places.chunk_by(|a, b| a.0 == b.0) {
            let root = at..at + of_root.len();
            for here in of_root.chunk_by(|a, b| a.1 == b.1) {
                let (_, start, _) = here[0];
                while let Some(&last) = open.last()
                    && places[self.table[last].own.start].2 <= start
                {
                    close(&mut self.table, last, at);
                    open.pop();
                }
                let above = open.last().copied();
                open.push(self.table.len());
                self.groups.extend(here.iter().map(|_| self.table.len() as u32));
                let own = at..at + here.len();
                at = own.end;
                self.table.push(Group { own, below: at, above, root: root.clone() });
            }
            while let Some(last) = open.pop() {
                close(&mut self.table, last, at);
            }
        }
    }

    fn regular(&self) -> usize {
        self.groups.len()
    }

    fn len(&self) -> usize {
        self.tags.len()
    }

    /// Calls back with each range of regular positions that a regular position
    /// may alias.
    fn ranges(&self, position: usize, mut found: impl FnMut(Range<usize>)) {
        let group = &self.table[self.groups[position] as usize];
        found(0..group.root.start);
        found(group.root.end..self.regular());
        found(group.own.start..group.below);
        let mut above = group.above;
        while let Some(next) = above.map(|above| &self.table[above]) {
            found(next.own.clone());
            above = next.above;
        }
    }

    /// Sets the bits of what a position may alias.
    fn row(&self, position: usize, words: &mut [u64]) {
        if let Some(other) = position.checked_sub(self.regular()) {
            words.copy_from_slice(&self.others[other].0);
            return;
        }
        self.ranges(position, |range| fill(words, range));
        for (other, row) in self.others.iter().enumerate() {
            let column = self.regular() + other;
            words[column / 64] |= u64::from(row.get(position)) << (column % 64);
        }
    }

    /// Returns each tag's position.
    fn positions(&self) -> Vec<u32> {
        let mut positions = vec![0; self.len()];
        for (position, &tag) in self.tags.iter().enumerate() {
            positions[tag as usize] = position as u32;
        }
        positions
    }

    /// Returns the sum of the keys of what each position may alias.
    fn fingerprints(&self) -> Vec<u128> {
        let hashers = [DefaultHashBuilder::default(), DefaultHashBuilder::default()];
        let key = |position: usize| {
            let [high, low] = hashers.each_ref().map(|hasher| hasher.hash_one(position));
            u128::from(high) << 64 | u128::from(low)
        };
        // Sums of the keys before each position.
        let mut sums = vec![0_u128];
        for position in 0..self.regular() {
            sums.push(sums[position].wrapping_add(key(position)));
        }
        let mut above = Vec::with_capacity(self.table.len());
        let sum = |range: &Range<usize>| sums[range.end].wrapping_sub(sums[range.start]);
        for group in &self.table {
            // A group comes after the one above it.
            let of_above = |above_group: usize| {
                let of_above: u128 = above[above_group];
                of_above.wrapping_add(sum(&self.table[above_group].own))
            };
            above.push(group.above.map_or(0, of_above));
        }
        let mut prints: Vec<u128> = (0..self.regular())
            .map(|position| {
                let group = self.groups[position] as usize;
                let Group { own, below, root, .. } = &self.table[group];
                let others = sum(&(0..self.regular())).wrapping_sub(sum(root));
                above[group].wrapping_add(sum(&(own.start..*below))).wrapping_add(others)
            })
            .collect();
        for (other, row) in self.others.iter().enumerate() {
            let mut print = 0_u128;
            for position in (0..self.len()).filter(|&position| row.get(position)) {
                print = print.wrapping_add(key(position));
                if position < self.regular() {
                    prints[position] = prints[position].wrapping_add(key(self.regular() + other));
                }
            }
            prints.push(print);
        }
        prints
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
        let mut rows = Bits::new(stride * 64 * tags.len());
        for (position, words) in rows.0.chunks_exact_mut(stride.max(1)).enumerate() {
            order.row(position, words);
        }
        Matrix { positions: order.positions(), rows, stride }
    }

    /// Finds the tags that answer alike in every query with one of `tags`. It
    /// takes time in proportion to the number of tags, and to that number again
    /// for each tag that only the rule's further tables decide on.
    ///
    /// Rows of answers are compared by fingerprints of 128 bits, keyed at
    /// random.
    #[must_use]
    pub fn classes(&self, tags: &[TagId]) -> Classes {
        let order = Order::new(self, tags);
        let mut by_print: HashMap<u128, u32> = HashMap::new();
        let mut found = Classes { classes: Vec::new(), representatives: Vec::new() };
        let prints = order.fingerprints();
        let positions = order.positions();
        for (index, &position) in positions.iter().enumerate() {
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

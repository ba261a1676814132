//! Classes of tags that have the same answers. [`Order`] assigns a position to each tag of a list.
//!
//! The *row* of a tag is the set of tags of the list that it may alias. Tags are in one class iff
//! their rows are equal. Comparing only hashes of rows could give a wrong `NoAlias`.
//!
//! Each **regular tag** (`Role::Regular` in `index.rs`) has a node in a forest. The regular tags of
//! one node form a *group*. Two regular tags may alias iff their roots differ, their nodes are
//! equal, or one node is *above* the other (an ancestor). So among regular tags, the row of a tag
//! is a subset of the row of each tag above it, and these two rows are equal iff their sizes are.
//!
//! **Rejected tags** may alias everything. All other tags are **listed**: the row of each is stored
//! as a list. Each list refines the partition of the tags: it splits every class of which it
//! contains some members but not all.

use std::borrow::Borrow;
use std::cell::Cell;

use super::grow::Oracle;
use super::order::{Order, Row};
use crate::graph::{Graph, TagId};
use crate::table::HashMap;

/// A partition of a list of tags. Tags of a class have the same answers for all tags of the list.
///
/// ```
/// use tbaa::{Graph, Oracle, AliasRule};
///
/// let mut graph = Graph::new();
/// let mut b = graph.builder();
/// let root = b.root("R")?;
/// let int = b.scalar_type("int", root)?;
/// let float = b.scalar_type("float", root)?;
/// let pair = b.struct_type("pair", &[(float, 0), (float, 4)])?;
/// let tags = [
///     b.struct_tag(int, int, 0)?,
///     b.struct_tag(float, float, 0)?,
///     b.immutable_struct_tag(int, int, 0)?,
///     b.struct_tag(pair, float, 0)?,
///     b.struct_tag(pair, float, 4)?,
/// ];
///
/// let classes = Oracle::new(&graph, AliasRule::Llvm).classes(&tags);
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
    pub fn len(&self) -> usize {
        self.representatives.len()
    }

    /// Returns whether there are no classes, because there are no tags.
    pub fn is_empty(&self) -> bool {
        self.representatives.is_empty()
    }

    /// Returns the class of each tag. Classes are numbered in the order of their first tags.
    pub fn as_slice(&self) -> &[u32] {
        &self.classes
    }

    /// Returns, for each class, the position of its first tag in the list.
    pub fn representatives(&self) -> &[u32] {
        &self.representatives
    }
}

impl<G: Borrow<Graph>> Oracle<G> {
    /// Partitions `tags` into classes. Two tags are in one class iff each of `tags` has the same
    /// answer with both. Searches have the same limits as in [`Oracle::matrix`].
    pub fn classes(&self, tags: &[TagId]) -> Classes {
        Order::new(self, tags).classes()
    }

    /// Like [`Oracle::classes`], but `ask` answers the pairs that the index does not decide. `ask`
    /// must always give the same answer for the same pair.
    #[doc(hidden)]
    pub fn classes_asking(&self, tags: &[TagId], ask: impl Fn(TagId, TagId) -> bool) -> Classes {
        Order::asking(self, tags, &Cell::new(self.steps_to_compare()), ask).classes()
    }
}

/// The part of a row that contains the positions of regular tags.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Regular {
    /// All regular positions, that is, positions of regular tags.
    All,
    /// The row of a group. The number is the index of the uppermost group that has this row.
    Group(u32),
    /// The first regular position of a root, and the positions in the row that have this root. The
    /// row also contains all regular positions of other roots.
    Listed(usize, Vec<u32>),
}

impl Order {
    pub(super) fn classes(&self) -> Classes {
        let counts = self.counts();
        let rows: Vec<Regular> = self.uppermost(&counts);
        let listed = self.partition();
        let key = |position: usize| match self.group_of(position) {
            Some(group) => (rows[group].clone(), listed[position]),
            // Tags that may alias everything share one row, so the first of them represents all.
            None if position < self.rejected.end => (Regular::All, listed[self.rejected.start]),
            None => {
                let row = &self.lists[position - self.rejected.end];
                (self.regular_part(row, &counts, &rows), listed[position])
            }
        };
        let mut numbers: HashMap<(Regular, u32), u32> = HashMap::new();
        let mut found = Classes { classes: Vec::new(), representatives: Vec::new() };
        for (index, &position) in self.positions().iter().enumerate() {
            let next = found.representatives.len() as u32;
            let class = *numbers.entry(key(position as usize)).or_insert(next);
            if class == next {
                found.representatives.push(index as u32);
            }
            found.classes.push(class);
        }
        found
    }

    /// Returns, for each group of regular tags, the number of regular positions in its row.
    fn counts(&self) -> Vec<usize> {
        let mut above = Vec::with_capacity(self.groups.len());
        let mut counts = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            // The group above comes earlier in `groups`.
            let own: usize =
                group.above.map_or(0, |up: usize| above[up] + self.groups[up].own.len());
            above.push(own);
            let outside = self.regular() - group.root.len();
            counts.push(outside + own + (group.below - group.own.start));
        }
        counts
    }

    /// Returns, for each group, the regular part of its row.
    fn uppermost(&self, counts: &[usize]) -> Vec<Regular> {
        let mut rows: Vec<Regular> = Vec::with_capacity(counts.len());
        for (number, group) in self.groups.iter().enumerate() {
            let same = group.above.filter(|&above| counts[above] == counts[number]);
            rows.push(match same {
                _ if counts[number] == self.regular() => Regular::All,
                Some(above) => rows[above].clone(),
                None => Regular::Group(number as u32),
            });
        }
        rows
    }

    /// Returns the regular part of the row of a listed tag.
    fn regular_part(&self, row: &Row, counts: &[usize], rows: &[Regular]) -> Regular {
        let mut list = Vec::new();
        row.for_each(|position| {
            if position < self.regular() {
                list.push(position as u32);
            }
        });
        let count = self.regular() - row.root.len() + list.len();
        if count == self.regular() {
            return Regular::All;
        }
        let group_of = |&position: &u32| self.group_of(position as usize);
        // If some group in `list` has this row, every group in `list` with the same count is above
        // or below that group, and so has the same row. So testing one of these groups is enough.
        let same = list.iter().filter_map(group_of).find(|&group| counts[group] == count);
        if let Some(group) = same
            && list.iter().filter_map(group_of).all(|other| self.is_related(group, other))
        {
            return rows[group].clone();
        }
        list.sort_unstable();
        Regular::Listed(row.root.start, list)
    }

    /// Numbers the positions so that two positions get the same number iff the same lists contain
    /// them. Among rejected positions, only the first has a valid number.
    fn partition(&self) -> Vec<u32> {
        let (classes, sizes) = (vec![0; self.len()], vec![self.len() as u32]);
        let mut partition = Partition { classes, sizes, hits: vec![0] };
        let mut members = Vec::new();
        for row in &self.lists {
            members.clear();
            if row.root.len() == self.regular() {
                members.extend(self.rejected.clone().take(1).map(|position| position as u32));
                row.for_each(|position| members.push(position as u32));
            } else {
                // The row has all regular positions of other roots. Split by the positions that the
                // row lacks.
                let mut on = vec![false; self.len()];
                row.for_each(|position| on[position] = true);
                let scope = row.root.clone().chain(self.listed());
                members.extend(scope.filter(|&position| !on[position]).map(|at| at as u32));
            }
            partition.split(&members);
        }
        partition.classes
    }
}

/// A partition of the numbers `0..len` into classes.
struct Partition {
    classes: Vec<u32>,
    sizes: Vec<u32>,
    /// The number of members of each class that are in the set by which the classes are split.
    hits: Vec<u32>,
}

impl Partition {
    /// Splits each class into its members inside `set` and those outside. `set` has no duplicates.
    fn split(&mut self, set: &[u32]) {
        let mut touched = Vec::new();
        for &member in set {
            let class = self.classes[member as usize];
            if self.hits[class as usize] == 0 {
                touched.push(class);
            }
            self.hits[class as usize] += 1;
        }
        // For each class that is only partly inside `set`: the new class of the members inside.
        let mut new = HashMap::new();
        for class in touched {
            let hits = std::mem::take(&mut self.hits[class as usize]);
            if hits < self.sizes[class as usize] {
                self.sizes[class as usize] -= hits;
                new.insert(class, self.sizes.len() as u32);
                self.sizes.push(hits);
                self.hits.push(0);
            }
        }
        for &member in set {
            let class = &mut self.classes[member as usize];
            *class = new.get(class).copied().unwrap_or(*class);
        }
    }
}

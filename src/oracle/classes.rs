//! Classes of tags with the same answers.
//!
//! Two tags are of one class iff their rows of answers are equal. Rows are
//! compared, never hashed: a collision would be a wrong `NoAlias`.
//!
//! **Among regular tags** a row is a tag's ancestors and descendants in the forest of cursors, and
//! all tags of other roots. So the row of a tag below another is a subset of the other's, and the
//! two are equal iff they have the same length.
//!
//! **Among all others** rows are lists. The partition of the tags is refined by each list: a class
//! is split if only some of it is listed.

use std::borrow::Borrow;
use std::cell::Cell;

use super::grow::Oracle;
use super::order::{Order, Row};
use crate::graph::{Graph, TagId};
use crate::table::HashMap;

/// Tags of a list that have the same answer in every query with a tag of the list.
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

    /// Returns whether there is no class, because there is no tag.
    pub fn is_empty(&self) -> bool {
        self.representatives.is_empty()
    }

    /// Returns each tag's class; classes are numbered from 0 in the order of their first tags.
    pub fn as_slice(&self) -> &[u32] {
        &self.classes
    }

    /// Returns the place in the list of the first tag of each class.
    pub fn representatives(&self) -> &[u32] {
        &self.representatives
    }
}

impl<G: Borrow<Graph>> Oracle<G> {
    /// Finds the classes of tags that have the same answers in every query with one of `tags`.
    ///
    /// It takes time in proportion to the number of tags, and of the pairs that the intervals do
    /// not decide and that may alias. Its searches have the same limits as those of
    /// [`Oracle::matrix`].
    pub fn classes(&self, tags: &[TagId]) -> Classes {
        Order::new(self, tags).classes()
    }

    /// Like [`Oracle::classes`], by somebody's answers for tags that the intervals do
    /// not decide on. They must not change.
    #[doc(hidden)]
    pub fn classes_asking(&self, tags: &[TagId], ask: impl Fn(TagId, TagId) -> bool) -> Classes {
        Order::asking(self, tags, &Cell::new(self.steps_to_compare()), ask).classes()
    }
}

/// The part of a row for regular positions.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Regular {
    /// All of them.
    All,
    /// The class of a group; the uppermost of the groups with this row.
    Group(u32),
    /// All of other roots, and a list under the root that begins here.
    Listed(usize, Vec<u32>),
}

impl Order {
    /// Splits the list of tags into classes of equal rows.
    pub(super) fn classes(&self) -> Classes {
        let counts = self.counts();
        let rows: Vec<Regular> = self.uppermost(&counts);
        let listed = self.partition();
        let key = |position: usize| match self.group_of(position) {
            Some(group) => (rows[group].clone(), listed[position]),
            // Tags that may alias everything share one row; the first represents all.
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

    /// Returns the number of regular positions in each group's row.
    fn counts(&self) -> Vec<usize> {
        let mut above = Vec::with_capacity(self.groups.len());
        let mut counts = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            // A group comes after the one above it.
            let own: usize =
                group.above.map_or(0, |up: usize| above[up] + self.groups[up].own.len());
            above.push(own);
            let outside = self.regular() - group.root.len();
            counts.push(outside + own + (group.below - group.own.start));
        }
        counts
    }

    /// Returns each group's row.
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

    /// Returns the regular part of a list.
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
        // Find a listed group with this row. If another listed group has as many entries, it is
        // below or above it, and so has the same row.
        let same = list.iter().filter_map(group_of).find(|&group| counts[group] == count);
        if let Some(group) = same
            && list.iter().filter_map(group_of).all(|other| self.is_related(group, other))
        {
            return rows[group].clone();
        }
        list.sort_unstable();
        Regular::Listed(row.root.start, list)
    }

    /// Numbers the positions such that two have one number iff the same lists have them.
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
                // All regular positions of other roots are listed: split by the unlisted ones.
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

/// A partition of `0..len`.
struct Partition {
    classes: Vec<u32>,
    /// Members of each class.
    sizes: Vec<u32>,
    /// Members of each class that are in the set to split by.
    hits: Vec<u32>,
}

impl Partition {
    /// Splits each class into its members in a set, each named once, and those that are not.
    fn split(&mut self, set: &[u32]) {
        let mut touched = Vec::new();
        for &member in set {
            let class = self.classes[member as usize];
            if self.hits[class as usize] == 0 {
                touched.push(class);
            }
            self.hits[class as usize] += 1;
        }
        // The class that the hit members of a class go to: their own, if that is all of them.
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

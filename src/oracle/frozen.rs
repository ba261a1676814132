//! The answers for a fixed list of tags, apart from graph and rules.

use std::borrow::Borrow;

use super::order::{At, Bits, Order};
use super::{AliasResult, Oracle};
use crate::graph::{Graph, TagId};

/// Up to this many classes of tags, every answer is stored: 2 MB.
const CLASSES: usize = 1 << 12;

/// The answers to all pairs of a fixed list of tags, small and without the
/// graph: to be stored, sent, or shared by threads.
///
/// Tags are named by their places in the list. Where the tags fall into at most
/// 4,096 classes, a query reads a bit, whatever the rules; else it compares two
/// intervals, and searches a list for tags on which that does not decide.
///
/// With the feature `serde` it can be serialised; what is read back is checked
/// so far that no query can fail.
///
/// ```
/// use tbaa::{Graph, Oracle, Rules};
///
/// let mut graph = Graph::new();
/// let mut b = graph.builder();
/// let root = b.root("R")?;
/// let int = b.scalar_type("int", root)?;
/// let float = b.scalar_type("float", root)?;
/// let tags = [b.struct_tag(int, int, 0, false)?, b.struct_tag(float, float, 0, false)?];
///
/// let frozen = Oracle::new(&graph, Rules::Llvm).freeze(&tags);
/// assert!(frozen.may_alias(0, 0));
/// assert!(!frozen.may_alias(0, 1));
/// # Ok::<(), tbaa::BuildError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Table", into = "Table"))]
pub struct Frozen {
    table: Table,
}

#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename = "Frozen", deny_unknown_fields))]
enum Table {
    /// Each tag's class, and the answers to pairs of classes.
    Classes { of_tags: Vec<u16>, classes: usize, may_alias: Bits },
    /// Each tag's interval, and the lists of what others may alias.
    Intervals { tags: Vec<Place>, lists: Vec<Vec<u32>> },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Place {
    /// Tags of one root may alias iff their intervals meet.
    Interval { root: u32, start: u32, end: u32 },
    /// Tags of no interval, and intervals of the same root, may alias iff they
    /// are listed, in ascending order.
    Listed { root: Option<u32>, list: u32 },
    /// All tags may alias.
    Any,
}

impl Place {
    /// Whether it is an interval of another root.
    fn is_apart(self, of: Option<u32>) -> bool {
        matches!(self, Place::Interval { root, .. } if Some(root) != of)
    }
}

impl Frozen {
    /// Returns the number of tags.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.table {
            Table::Classes { of_tags, .. } => of_tags.len(),
            Table::Intervals { tags, .. } => tags.len(),
        }
    }

    /// Returns whether there is no tag.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether tags number `a` and `b` of the list may alias; a tag not
    /// in the list may alias any.
    #[inline]
    #[must_use]
    pub fn may_alias(&self, a: usize, b: usize) -> bool {
        match &self.table {
            Table::Classes { of_tags, classes, may_alias } => {
                let (Some(&a), Some(&b)) = (of_tags.get(a), of_tags.get(b)) else { return true };
                may_alias.get(usize::from(a) * classes + usize::from(b))
            }
            Table::Intervals { tags, lists } => match (tags.get(a), tags.get(b)) {
                (
                    Some(&Place::Interval { root, start, end }),
                    Some(&Place::Interval { root: other, start: first, end: last }),
                ) => (root != other) | (start < last) & (first < end),
                (Some(Place::Any), _) | (_, Some(Place::Any)) => true,
                (Some(&Place::Listed { root, list }), Some(other)) => {
                    other.is_apart(root) || lists[list as usize].binary_search(&(b as u32)).is_ok()
                }
                (Some(other), Some(&Place::Listed { root, list })) => {
                    other.is_apart(root) || lists[list as usize].binary_search(&(a as u32)).is_ok()
                }
                _ => true,
            },
        }
    }

    /// Returns the answer to tags number `a` and `b` of the list.
    #[must_use]
    pub fn alias(&self, a: usize, b: usize) -> AliasResult {
        if self.may_alias(a, b) { AliasResult::MayAlias } else { AliasResult::NoAlias }
    }

    /// Returns the bytes that the tables take.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        match &self.table {
            Table::Classes { of_tags, may_alias, .. } => 2 * of_tags.len() + may_alias.bytes(),
            Table::Intervals { tags, lists } => {
                let listed: usize = lists.iter().map(Vec::len).sum();
                size_of_val(&tags[..]) + size_of_val(&lists[..]) + 4 * listed
            }
        }
    }
}

impl<G: Borrow<Graph>> Oracle<G> {
    /// Stores the answers to all pairs of `tags`.
    #[must_use]
    pub fn freeze(&self, tags: &[TagId]) -> Frozen {
        let order = Order::new(self, tags);
        let classes = order.classes();
        if classes.len() > CLASSES {
            return Frozen { table: order.intervals() };
        }
        let first = |&place: &u32| tags[place as usize];
        let firsts: Vec<_> = classes.representatives().iter().map(first).collect();
        let matrix = self.matrix(&firsts);
        let count = firsts.len();
        let mut may_alias = Bits::new(count * count);
        for a in 0..count {
            for b in (0..count).filter(|&b| matrix.may_alias(a, b)) {
                may_alias.set(a * count + b);
            }
        }
        let of_tags = classes.as_slice().iter().map(|&class| class as u16).collect();
        Frozen { table: Table::Classes { of_tags, classes: count, may_alias } }
    }
}

impl Order {
    fn intervals(&self) -> Table {
        let mut tags = vec![Place::Any; self.len()];
        let mut lists = Vec::new();
        for position in 0..self.len() {
            tags[self.tag(position)] = match self.at(position) {
                At::Interval { root, start, end } => {
                    Place::Interval { root: root as u32, start: start as u32, end: end as u32 }
                }
                At::Anything => Place::Any,
                At::Listed(row) => {
                    let mut list = Vec::new();
                    row.for_each(|other| list.push(self.tag(other) as u32));
                    list.sort_unstable();
                    lists.push(list);
                    let root = row.root().map(|root| root as u32);
                    Place::Listed { root, list: lists.len() as u32 - 1 }
                }
            };
        }
        Table::Intervals { tags, lists }
    }
}

impl From<Frozen> for Table {
    fn from(frozen: Frozen) -> Table {
        frozen.table
    }
}

impl TryFrom<Table> for Frozen {
    type Error = &'static str;

    fn try_from(table: Table) -> Result<Frozen, &'static str> {
        let sound = match &table {
            Table::Classes { of_tags, classes, may_alias } => {
                of_tags.iter().all(|&class| usize::from(class) < *classes)
                    && classes
                        .checked_mul(*classes)
                        .is_some_and(|pairs| may_alias.bytes() == pairs.div_ceil(64) * 8)
            }
            Table::Intervals { tags, lists } => tags.iter().all(|place| match place {
                Place::Interval { start, end, .. } => start < end,
                Place::Listed { list, .. } => (*list as usize) < lists.len(),
                Place::Any => true,
            }),
        };
        if sound { Ok(Frozen { table }) } else { Err("a table of answers that contradicts itself") }
    }
}

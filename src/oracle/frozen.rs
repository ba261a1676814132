//! The answers for a fixed list of tags, apart from graph and rules.

use std::borrow::Borrow;

use super::order::{At, Bits, Order};
use super::query::Oracle;
use super::rules::AliasResult;
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
/// With the feature `serde` it can be serialised. What is read back is checked:
/// no query can fail, and the answers are reflexive and symmetric. NB: whether
/// they are the answers of the caller's graph, nothing tells. They are trusted
/// as the program's own code is; store them where nobody else writes.
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
    /// Whether there are intervals of several roots.
    mixed: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename = "Frozen", deny_unknown_fields))]
enum Table {
    /// Each tag's class, and the answers to pairs of classes.
    Classes { of_tags: Vec<u16>, classes: usize, may_alias: Bits },
    /// Each tag's interval, from the first number to past the last, what it
    /// means, and the lists of what tags without one may alias.
    Intervals { spans: Vec<(u32, u32)>, kinds: Vec<Kind>, lists: Vec<List> },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Kind {
    /// Tags of one root, this one, may alias iff their intervals meet.
    Root(u32),
    /// A list says which tags may alias; the interval is [`ALL`].
    Listed(u32),
    /// All tags may alias; the interval is [`ALL`].
    Any,
}

/// What a tag may alias beside all intervals of other roots.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct List {
    root: Option<u32>,
    /// In ascending order.
    tags: Vec<u32>,
}

/// An interval that meets all others.
const ALL: (u32, u32) = (0, u32::MAX);

impl List {
    fn may_alias(&self, tag: usize, kind: Kind) -> bool {
        matches!(kind, Kind::Root(root) if Some(root) != self.root)
            || self.tags.binary_search(&(tag as u32)).is_ok()
    }

    /// Whether the list of a tag ascends and names the tag itself, and each tag
    /// that has a list and is named here names this one.
    fn is_sound(&self, tag: usize, kinds: &[Kind], lists: &[List]) -> bool {
        let names_back = |other: &u32| match kinds.get(*other as usize) {
            Some(&Kind::Listed(list)) => lists
                .get(list as usize)
                .is_some_and(|list| list.tags.binary_search(&(tag as u32)).is_ok()),
            kind => kind.is_some(),
        };
        self.tags.is_sorted_by(|a, b| a < b)
            && self.tags.binary_search(&(tag as u32)).is_ok()
            && self.tags.iter().all(names_back)
    }
}

impl Frozen {
    /// Returns the number of tags.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.table {
            Table::Classes { of_tags, .. } => of_tags.len(),
            Table::Intervals { spans, .. } => spans.len(),
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
            Table::Intervals { spans, kinds, lists } => {
                let (Some(x), Some(y)) = (spans.get(a), spans.get(b)) else { return true };
                let meet = (x.0 < y.1) & (y.0 < x.1);
                if !meet && !self.mixed {
                    return false;
                }
                match (kinds[a], kinds[b]) {
                    (Kind::Root(root), Kind::Root(other)) => meet || root != other,
                    (Kind::Any, _) | (_, Kind::Any) => true,
                    (Kind::Listed(list), kind) => lists[list as usize].may_alias(b, kind),
                    (kind, Kind::Listed(list)) => lists[list as usize].may_alias(a, kind),
                }
            }
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
            Table::Intervals { spans, kinds, lists } => {
                let listed: usize = lists.iter().map(|list| list.tags.len()).sum();
                let fixed = size_of_val(&spans[..]) + size_of_val(&kinds[..]);
                fixed + size_of_val(&lists[..]) + 4 * listed
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
            return order.intervals().frozen();
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
        Table::Classes { of_tags, classes: count, may_alias }.frozen()
    }
}

impl Order {
    fn intervals(&self) -> Table {
        let (mut spans, mut kinds) = (vec![ALL; self.len()], vec![Kind::Any; self.len()]);
        let mut lists = Vec::new();
        for position in 0..self.len() {
            let tag = self.tag(position);
            match self.at(position) {
                At::Interval { root, start, end } => {
                    spans[tag] = (start as u32, end as u32);
                    kinds[tag] = Kind::Root(root as u32);
                }
                At::Anything => {}
                At::Listed(row) => {
                    let mut tags = Vec::new();
                    row.for_each(|other| tags.push(self.tag(other) as u32));
                    tags.sort_unstable();
                    kinds[tag] = Kind::Listed(lists.len() as u32);
                    lists.push(List { root: row.root().map(|root| root as u32), tags });
                }
            }
        }
        Table::Intervals { spans, kinds, lists }
    }
}

impl Table {
    /// Returns the table, which must be sound, ready to be asked.
    fn frozen(self) -> Frozen {
        let mixed = match &self {
            Table::Classes { .. } => false,
            Table::Intervals { kinds, .. } => {
                let mut roots = kinds.iter().filter_map(|kind| match kind {
                    Kind::Root(root) => Some(root),
                    _ => None,
                });
                let first = roots.next();
                roots.any(|root| Some(root) != first)
            }
        };
        Frozen { table: self, mixed }
    }

    /// Whether no query can fail, and every answer is reflexive and symmetric.
    fn is_sound(&self) -> bool {
        match self {
            Table::Classes { of_tags, classes, may_alias } => {
                let classes = *classes;
                let may = |a: usize, b: usize| may_alias.get(a * classes + b);
                let whole = classes
                    .checked_mul(classes)
                    .is_some_and(|pairs| may_alias.bytes() == pairs.div_ceil(64) * 8);
                whole
                    && of_tags.iter().all(|&class| usize::from(class) < classes)
                    && (0..classes).all(|a| may(a, a) && (0..a).all(|b| may(a, b) == may(b, a)))
            }
            Table::Intervals { spans, kinds, lists } => {
                spans.len() == kinds.len()
                    && spans.iter().zip(kinds).enumerate().all(|(tag, (&span, &kind))| match kind {
                        Kind::Root(_) => span.0 < span.1,
                        Kind::Any => span == ALL,
                        Kind::Listed(list) => {
                            let list = lists.get(list as usize);
                            span == ALL && list.is_some_and(|list| list.is_sound(tag, kinds, lists))
                        }
                    })
            }
        }
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
        let unsound = "a table of answers that contradicts itself";
        if table.is_sound() { Ok(table.frozen()) } else { Err(unsound) }
    }
}

//! Newcomers, sorted into classes that may alias the same.

use std::borrow::Borrow;

use super::error::{LowerError, MAX_CLASSES};
use super::loss::{Pairs, Sum};
use super::rank::Ranks;
use super::relation::Relation;
use super::source::Key;
use super::state::{Entry, Lowering};
use crate::graph::{Graph, TagId};
use crate::oracle::Oracle;
use crate::table::{IndexMap, IndexSet};

/// Sources that may alias the same.
pub(super) struct Class {
    pub(super) members: Vec<(Key, u32)>,
    pub(super) sum: Sum,
    /// Which of the batch's rows.
    pub(super) row: usize,
    pub(super) rank: u32,
    pub(super) private: bool,
}

/// A source to be added.
#[derive(Clone, Copy)]
pub(super) struct Newcomer {
    pub(super) key: Key,
    pub(super) weight: u32,
    pub(super) private: bool,
}

/// A source that is there, or somebody else's tag.
struct Old {
    key: Key,
    node: Option<u32>,
    /// Whether it is somebody else's, and aliases not everything.
    others: bool,
    scope: Option<u32>,
    sum: Sum,
}

/// What a newcomer is to the sources that are there.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Row {
    /// The nodes of those that it may alias, in ascending order.
    pub(super) nodes: Vec<u32>,
    /// The scopes of which it aliases no source, with their nodes.
    pub(super) apart: Vec<(u32, Option<u32>)>,
}

impl Row {
    /// Returns the row, and the sources that the newcomer may alias.
    fn of<G: Borrow<Graph>>(
        oracle: &Oracle<G>,
        key: &Key,
        private: bool,
        old: &[Old],
    ) -> (Row, Sum) {
        let mut nodes = Vec::new();
        let mut sum = Sum::default();
        let mut scopes: IndexMap<u32, (bool, Option<u32>)> = IndexMap::default();
        for old in old {
            let reach = !(private && old.others);
            let may = reach && old.key.may_alias(key, oracle);
            if may {
                nodes.extend(old.node);
                sum += old.sum;
            }
            if let Some(scope) = old.scope {
                scopes.entry(scope).or_insert((false, old.node)).0 |= may;
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        let apart = scopes.into_iter().filter(|(_, (may, _))| !may);
        (Row { nodes, apart: apart.map(|(scope, (_, node))| (scope, node)).collect() }, sum)
    }
}

/// Newcomers under one root.
pub(super) struct Batch {
    pub(super) classes: Vec<Class>,
    pub(super) relation: Relation,
    pub(super) rows: Vec<Row>,
    /// The pairs with what was there that may alias.
    pub(super) with_old: Pairs,
}

/// The answers to all pairs of classes.
fn relate<G: Borrow<Graph>>(oracle: &Oracle<G>, classes: &[Class]) -> Relation {
    let weight = |class: &Class| u64::try_from(class.sum.weight).unwrap_or(u64::MAX);
    let mut relation = Relation::new(classes.iter().map(weight).collect());
    let plain: Vec<usize> =
        (0..classes.len()).filter(|&at| classes[at].members[0].0.size.is_none()).collect();
    let tags: Vec<TagId> = plain.iter().map(|&at| classes[at].members[0].0.tag).collect();
    let matrix = oracle.matrix(&tags);
    for (row, &a) in plain.iter().enumerate() {
        for (column, &b) in plain.iter().enumerate().skip(row + 1) {
            if matrix.may_alias(row, column) {
                relation.relate(a, b);
            }
        }
    }
    let sized = (0..classes.len()).filter(|&at| classes[at].members[0].0.size.is_some());
    for a in sized {
        let key = classes[a].members[0].0;
        for (b, other) in classes.iter().enumerate() {
            if key.may_alias(&other.members[0].0, oracle) {
                relation.relate(a, b);
            }
        }
    }
    relation
}

impl Lowering {
    /// What is there under one root.
    fn old(&self, group: u32) -> Vec<Old> {
        let inside = |entry: &Entry| entry.group == Some(group);
        let sources = self.sources.iter().filter(|(_, entry)| inside(entry));
        let sources = sources.map(|(&key, entry)| Old {
            key,
            node: entry.node,
            others: false,
            scope: entry.scope,
            sum: Sum::of(entry.weight),
        });
        let top = |node: u32| self.forest.nodes[node as usize].above.is_none();
        // Their pairs are not the lowering's to lose.
        let fixed = self.fixed.iter().map(|&(key, node)| Old {
            key,
            node: Some(node),
            others: !top(node),
            scope: None,
            sum: Sum::default(),
        });
        let here =
            |old: &Old| old.node.is_none_or(|node| self.forest.nodes[node as usize].group == group);
        sources.chain(fixed.filter(here)).collect()
    }

    /// Sorts newcomers under one root into classes that may alias the same.
    pub(super) fn prepare<G: Borrow<Graph>>(
        &self,
        oracle: &Oracle<G>,
        ranks: &mut Ranks,
        batch: &[Newcomer],
    ) -> Result<Batch, LowerError> {
        let plain: Vec<TagId> =
            batch.iter().filter(|new| new.key.size.is_none()).map(|new| new.key.tag).collect();
        let plain_classes = oracle.classes(&plain);
        // What is there tells classes apart, too.
        let group = batch.first().and_then(|new| {
            let root = oracle
                .graph()
                .tag(new.key.tag)
                .ok()
                .map(|tag| oracle.graph().root_of(tag.access))??;
            self.groups.get_index_of(&root)
        });
        let old: Vec<Old> = match group {
            Some(group) => self.old(group as u32),
            None => Vec::new(),
        };
        let sized: Vec<Key> =
            batch.iter().map(|new| new.key).filter(|key| key.size.is_some()).collect();
        let mut rows: IndexSet<Row> = IndexSet::default();
        let mut classes: IndexMap<(usize, usize, bool, Vec<bool>), Class> = IndexMap::default();
        let mut with_old = Pairs::default();
        let mut at_plain = 0;
        for (at, &Newcomer { key, weight, private }) in batch.iter().enumerate() {
            let (row, may) = Row::of(oracle, &key, private, &old);
            with_old += Sum::of(weight).with(may);
            let row = rows.insert_full(row).0;
            let class = match key.size {
                None => {
                    at_plain += 1;
                    plain_classes.as_slice()[at_plain - 1] as usize
                }
                // Each is a class of its own.
                Some(_) => plain_classes.len() + at,
            };
            let beside = match key.size {
                None => sized.iter().map(|other| other.may_alias(&key, oracle)).collect(),
                Some(_) => Vec::new(),
            };
            let class = (class, row, private, beside);
            let class = classes.entry(class).or_insert_with(|| Class {
                members: Vec::new(),
                sum: Sum::default(),
                row,
                rank: ranks.of(oracle.graph(), key.tag),
                private,
            });
            class.members.push((key, weight));
            class.sum += Sum::of(weight);
        }
        if classes.len() > MAX_CLASSES {
            return Err(LowerError::TooMany { classes: classes.len() });
        }
        let classes: Vec<Class> = classes.into_values().collect();
        let relation = relate(oracle, &classes);
        Ok(Batch { classes, relation, rows: rows.into_iter().collect(), with_old })
    }
}

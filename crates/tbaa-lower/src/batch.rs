//! Sorts the new sources of one call of `Lowering::lower` into classes. A source is a tag to be
//! lowered: replaced by a tag that LLVM interprets correctly. The sources of one class may alias
//! the same other sources, so they share a node in the forest of lowered types. LLVM answers
//! `MayAlias` for two *comparable* nodes: one is an ancestor of the other. A *group* is the number
//! of a root.

use std::borrow::Borrow;

use super::answers::Answers;
use super::forest::ForestNode;
use super::loss::pairs_within;
use super::place::Allowed;
use super::rank::Ranks;
use super::relation::Relation;
use super::source::{Key, Source};
use super::state::{Entry, Lowering};
use tbaa::parts::table::{IndexMap, IndexSet};
use tbaa::parts::{self, Vicinity};
use tbaa::{Graph, Oracle, TagId};

/// A set of sources that may alias the same other sources.
pub(super) struct Class {
    pub(super) members: Vec<Key>,
    /// The index into [`Batch::rows`] of the class's row.
    pub(super) row: usize,
    /// The rank of the class's first member ([`Ranks`]).
    pub(super) rank: u32,
    /// The nodes at which the class may be placed.
    pub(super) allowed: Allowed,
}

/// A source of an earlier call, or a fixed tag: one that other modules use for an access.
struct Old {
    key: Key,
    group: Option<u32>,
    node: Option<u32>,
    /// True for a fixed tag whose node has a parent. A new class in private memory need not alias
    /// such a tag: other modules access private memory only with tags of nodes without a parent.
    foreign: bool,
    /// True if a new class in shared memory that may alias this tag must get a node comparable with
    /// the tag's node. If false, these nodes are comparable in any case (`skeleton.rs`).
    moves_shared: bool,
    scope: Option<u32>,
    /// True for a source, false for a fixed tag. Only pairs of sources are counted.
    is_source: bool,
}

/// The existing tags that a new source may alias.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Row {
    /// The nodes that the new source's node must be made comparable with, in ascending order.
    pub(super) nodes: Vec<u32>,
    /// The alias scopes of the existing tags, in ascending order.
    pub(super) near: Vec<u32>,
}

impl Row {
    /// Returns the row of a new source, and the number of existing sources that it may alias.
    /// `shared` is true if other modules may tag the source's memory. For private memory under the
    /// fixed tags' root, `private` has the nodes without a parent and without a fixed tag.
    fn of<G: Borrow<Graph>>(
        answers: &Answers<'_, G>,
        key: Key,
        shared: bool,
        private: Option<&[u32]>,
        old: impl Iterator<Item = Old>,
    ) -> (Row, u64) {
        let mut nodes = private.unwrap_or_default().to_vec();
        let (mut near, mut sources) = (Vec::new(), 0);
        for old in old {
            let heeds = if shared { old.moves_shared } else { !(private.is_some() && old.foreign) };
            if (heeds || old.is_source) && answers.may_alias(old.key, key) {
                nodes.extend(old.node.filter(|_| heeds));
                near.extend(old.scope);
                sources += u64::from(old.is_source);
            }
        }
        for list in [&mut nodes, &mut near] {
            list.sort_unstable();
            list.dedup();
        }
        (Row { nodes, near }, sources)
    }
}

/// The new sources under one root, sorted into classes.
pub(super) struct Batch {
    pub(super) classes: Vec<Class>,
    pub(super) relation: Relation,
    /// True for each class that gets no tag, and no pairs in `relation`, for lack of memory.
    pub(super) passed: Vec<bool>,
    /// The number of pairs of sources that may alias: within the batch, and with existing sources.
    pub(super) may: u64,
    pub(super) rows: Vec<Row>,
}

/// Calls `found` once with each pair of classes that may alias. `plain` has the indices of the
/// classes whose sources have no size of their own, and `pairs` the pairs among these classes.
fn each_pair<G: Borrow<Graph>>(
    answers: &Answers<'_, G>,
    classes: &[Class],
    pairs: &parts::Pairs,
    plain: &[usize],
    mut found: impl FnMut(usize, usize),
) {
    pairs.for_each(|a, b| found(plain[a], plain[b]));
    let is_sized = |at: usize| classes[at].members[0].size.is_some();
    for a in (0..classes.len()).filter(|&at| is_sized(at)) {
        let key = classes[a].members[0];
        for (b, other) in classes.iter().enumerate() {
            // The loops visit a pair of sized classes twice, and `a < b` holds once.
            if (a < b || !is_sized(b)) && answers.may_alias(key, other.members[0]) && a != b {
                found(a, b);
            }
        }
    }
}

/// Returns the relation between the classes, whether each class is left out of it, and the number
/// of pairs of sources that may alias. If the relation needs more than `most` bytes, the classes
/// that may alias the most others are left out.
fn relate<G: Borrow<Graph>>(
    answers: &Answers<'_, G>,
    classes: &[Class],
    most: usize,
) -> (Relation, Vec<bool>, u64) {
    let len = classes.len();
    let sizes: Vec<u64> = classes.iter().map(|class| class.members.len() as u64).collect();
    let plain: Vec<usize> = (0..len).filter(|&at| classes[at].members[0].size.is_none()).collect();
    let tags: Vec<TagId> = plain.iter().map(|&at| classes[at].members[0].tag).collect();
    let pairs = answers.oracle.pairs(&tags, answers.tags());
    let mut counts = vec![0_usize; len];
    let mut may = sizes.iter().map(|&sources| pairs_within(sources)).sum();
    each_pair(answers, classes, &pairs, &plain, |a, b| {
        may += sizes[a] * sizes[b];
        counts[a] += 1;
        counts[b] += 1;
    });
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by_key(|&at| (counts[at], at));
    let mut passed = vec![false; len];
    let mut bytes = 0_usize;
    for at in order {
        bytes = bytes.saturating_add(Relation::bytes(len, counts[at]));
        passed[at] = bytes > most;
    }
    for at in (0..len).filter(|&at| passed[at]) {
        counts[at] = 0;
    }
    let relation = Relation::new(sizes, &counts, |relate| {
        each_pair(answers, classes, &pairs, &plain, |a, b| {
            if !passed[a] && !passed[b] {
                relate(a, b);
            }
        });
    });
    (relation, passed, may)
}

impl Lowering {
    /// Adds to the index `vicinity` the tags that it lacks. Makes a new index for a new oracle.
    pub(super) fn list_old<G: Borrow<Graph>>(&mut self, oracle: &Oracle<G>) {
        let all = self.fixed.len() + self.sources.len();
        if !self.vicinity.0.is_of(oracle) {
            self.vicinity = (Vicinity::new(oracle), 0);
        }
        for place in std::mem::replace(&mut self.vicinity.1, all)..all {
            self.vicinity.0.add(oracle, self.old(place).key.access(), place as u32);
        }
    }

    /// Returns an existing tag by its index. Fixed tags come first, then sources.
    fn old(&self, place: usize) -> Old {
        let Some(source) = place.checked_sub(self.fixed.len()) else {
            let (key, node) = self.fixed[place];
            let ForestNode { above, group, .. } = self.forest.nodes[node as usize];
            let (group, node, foreign) = (Some(group), Some(node), above.is_some());
            let moves_shared = self.skeleton.odd[place];
            return Old { key, group, node, foreign, moves_shared, scope: None, is_source: false };
        };
        let (&key, entry) = self.sources.get_index(source).expect("a source's place");
        let &Entry { group, node, private: moves_shared, .. } = entry;
        let scope = self.scopes.number(key);
        Old { key, group, node, foreign: false, moves_shared, scope, is_source: true }
    }

    /// Returns a superset of the existing tags under one root that a new source may alias.
    fn near<G: Borrow<Graph>>(
        &self,
        oracle: &Oracle<G>,
        group: u32,
        key: Key,
    ) -> impl Iterator<Item = Old> + '_ {
        let all = || (0..self.vicinity.1 as u32).collect();
        let near = self.vicinity.0.of(oracle, key.access()).unwrap_or_else(all);
        let old = near.into_iter().map(|place| self.old(place as usize));
        old.filter(move |old| old.group == Some(group))
    }

    /// Returns the nodes at which a new class may be placed. Private memory counts as shared if the
    /// source has a fixed tag, or if several lowerings continue one saved state (forks).
    fn allowed(&self, graph: &Graph, key: Key, private: bool) -> Allowed {
        match private && !self.forked && !self.skeleton.has(key) {
            true => Allowed::Any,
            false => Allowed::Shared(self.skeleton.node(graph, &self.forest, key)),
        }
    }

    /// Returns whether there are fixed tags under the root `group`. All of them are under root 0.
    pub(super) fn is_open(&self, group: Option<u32>) -> bool {
        self.fixed_nodes > 0 && group == Some(0)
    }

    /// Sorts new sources under one root into classes. `group` is the number of this root, or `None`
    /// if the root had no sources before.
    pub(super) fn prepare<G: Borrow<Graph>>(
        &self,
        answers: &Answers<'_, G>,
        ranks: &mut Ranks,
        group: Option<u32>,
        batch: &[Source],
    ) -> Batch {
        let oracle = answers.oracle;
        let (plain, sized): (Vec<Source>, Vec<Source>) =
            batch.iter().partition(|source| source.size.is_none());
        let plain: Vec<TagId> = plain.iter().map(|source| source.tag).collect();
        let plain_classes = oracle.classes_asking(&plain, answers.tags());
        let open = self.is_open(group);
        let mut rows: IndexSet<Row> = IndexSet::default();
        let mut classes: IndexMap<(usize, usize, Allowed, Vec<bool>), Class> = IndexMap::default();
        let mut with_old = 0;
        let mut at_plain = 0;
        for (at, source) in batch.iter().enumerate() {
            let key = source.key();
            // The sources of one class must also have equal relations to the existing tags.
            let old = group.into_iter().flat_map(|group| self.near(oracle, group, key));
            let allowed = match open {
                true => self.allowed(oracle.graph(), key, source.private),
                false => Allowed::Any,
            };
            let private = (open && allowed == Allowed::Any).then_some(&*self.skeleton.tops);
            let shared = allowed != Allowed::Any;
            let (row, may) = Row::of(answers, key, shared, private, old);
            with_old += may;
            let row = rows.insert_full(row).0;
            let class = match key.size {
                None => {
                    at_plain += 1;
                    plain_classes.as_slice()[at_plain - 1] as usize
                }
                // Each source with its own access size is a class of its own.
                Some(_) => plain_classes.len() + at,
            };
            let beside = match key.size {
                None => sized.iter().map(|other| answers.may_alias(other.key(), key)).collect(),
                Some(_) => Vec::new(),
            };
            let class = (class, row, allowed, beside);
            let class = classes.entry(class).or_insert_with(|| Class {
                members: Vec::new(),
                row,
                rank: ranks.of(oracle.graph(), key.tag),
                allowed,
            });
            class.members.push(key);
        }
        let classes: Vec<Class> = classes.into_values().collect();
        let (relation, passed, may) = relate(answers, &classes, self.most_bytes);
        let rows = rows.into_iter().collect();
        Batch { classes, relation, passed, may: may + with_old, rows }
    }
}

#[cfg(test)]
mod tests {
    use crate::source::Key;
    use crate::{Lowering, Options, Why};
    use tbaa::{AliasRule, Graph, Oracle, SizedField};

    /// Classes beyond the memory limit get no tag. Their pairs count as lost, and scopes never
    /// separate a pair that may alias.
    #[test]
    fn beyond_the_bytes() {
        let mut graph = Graph::new();
        let mut b = graph.builder();
        let root = b.root("R").unwrap();
        let char = b.scalar_type("char", root).unwrap();
        let mut tags = vec![b.struct_tag(char, char, 0).unwrap()];
        for at in 0..40 {
            let ty = b.scalar_type(format!("t{at}"), char).unwrap();
            tags.push(b.struct_tag(ty, ty, 0).unwrap());
        }
        let oracle = Oracle::new(&graph, AliasRule::Union);
        let mut untagged = Vec::new();
        for bytes in [1 << 10, 39 * 8, 16 * 8, 0] {
            let options = Options::new().lineage("test").scopes();
            let mut lowering = Lowering::new(options);
            lowering.most_bytes = bytes;
            lowering.lower(&oracle, &tags[..tags.len() - 1]).unwrap();
            lowering.lower(&oracle, [tags[40]]).unwrap();
            assert_eq!(lowering.check(&oracle), []);
            let entries = lowering.scopes.lists.iter().map(|list| list.but.len());
            assert!(4 * entries.sum::<usize>() <= bytes, "{bytes}");
            let bare = |&&tag: &&_| lowering.tag(tag).is_none();
            let bare: Vec<_> = tags.iter().filter(bare).collect();
            for &&tag in &bare {
                assert_eq!(lowering.why(tag).unwrap().why, Why::TooManyPairs);
            }
            untagged.push(bare.len());
            let lost = lowering.lost_pairs(&oracle).count() as u64;
            assert_eq!((lowering.lost().no_alias, lowering.lost().pairs), (40 * 39 / 2, lost));
            for &a in &tags {
                for &b in &tags {
                    let (Some(one), Some(two)) = (lowering.scopes_of(a), lowering.scopes_of(b))
                    else {
                        continue;
                    };
                    let apart = one.noalias().any(|scope| scope == two.scope);
                    assert!(!apart || !oracle.may_alias(a, b));
                }
            }
        }
        assert_eq!(untagged, [0, 1, 24, 41], "the most general first");
    }

    #[test]
    fn the_last_shape_costs_what_the_second_does() {
        let mut oracle = Oracle::new(Graph::new(), AliasRule::Union);
        let (char, members) = oracle.update(|graph| {
            let mut b = graph.builder();
            let root = b.root("R").unwrap();
            let char = b.sized_type(root, 1, "char", &[]).unwrap();
            let scalar = |at: u64| (format!("t{at}"), 4 * (1 + at % 2));
            let members: Vec<_> = (0..10)
                .map(scalar)
                .map(|(name, size)| (b.sized_type(char, size, name, &[]).unwrap(), size))
                .collect();
            (char, members)
        });
        let mut lowering = Lowering::new(Options::new().lineage("shapes").scopes());
        let mut looked = Vec::new();
        for shape in 0..200 {
            let tags: Vec<_> = oracle.update(|graph| {
                let mut b = graph.builder();
                // Each member overlaps the one before it. No forest can express that: of members 0,
                // 1, 3 and 4, only neighbours in this list overlap.
                let field = |(at, &(ty, size)): (u64, &_)| SizedField { ty, offset: 3 * at, size };
                let fields: Vec<_> = (0..).zip(&members).map(field).collect();
                let ty = b.sized_type(char, 64, format!("Shape{shape}"), &fields).unwrap();
                let tag = |field: &SizedField| {
                    b.access_tag(ty, field.ty, field.offset, field.size).unwrap()
                };
                fields.iter().map(tag).collect()
            });
            lowering.list_old(&oracle);
            let near = |&tag: &_| lowering.near(&oracle, 0, Key { tag, size: None }).count();
            looked.push(tags.iter().map(near).sum::<usize>());
            lowering.lower(&oracle, &tags).unwrap();
        }
        assert_eq!(lowering.check(&oracle), []);
        assert!(lowering.lost().pairs > 0 && !lowering.scopes.is_empty());
        assert_eq!(looked[199], looked[1]);
    }
}

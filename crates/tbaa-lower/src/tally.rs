//! How many sources stand where: what newcomers are counted with.

use super::forest::Forest;
use super::loss::{Pairs, Sum};
use tbaa::parts::table::HashMap;

/// The sources that are there, by node. It is kept up to date, so that a
/// newcomer costs a look at the nodes above it.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Of each group.
    groups: Vec<Group>,
    /// At each node,
    own: Vec<Sum>,
    /// and at it or below.
    below: Vec<Sum>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    all: Sum,
    /// Those without a tag, which may alias everything.
    bare: Sum,
}

/// What newcomers add at each node.
#[derive(Debug, Default)]
struct New {
    own: HashMap<u32, Sum>,
    bare: Sum,
    tagged: Sum,
}

impl Tally {
    /// Counts a source.
    pub(super) fn add(&mut self, forest: &Forest, group: u32, node: Option<u32>, sum: Sum) {
        let groups = self.groups.len().max(group as usize + 1);
        self.groups.resize(groups, Group::default());
        let group = &mut self.groups[group as usize];
        group.all += sum;
        let Some(node) = node else {
            group.bare += sum;
            return;
        };
        let nodes = self.own.len().max(forest.nodes.len());
        self.own.resize(nodes, Sum::default());
        self.below.resize(nodes, Sum::default());
        self.own[node as usize] += sum;
        forest.up(Some(node)).for_each(|at| self.below[at as usize] += sum);
    }

    fn own(&self, node: u32) -> Sum {
        self.own.get(node as usize).copied().unwrap_or_default()
    }

    /// All sources of a group.
    pub(super) fn all(&self, group: u32) -> Sum {
        self.groups.get(group as usize).copied().unwrap_or_default().all
    }

    /// The pairs that LLVM calls `MayAlias`, of a newcomer with a source that is
    /// there or with another newcomer. `new` are the newcomers of one group, with
    /// their nodes.
    pub(super) fn comparable(
        &self,
        forest: &Forest,
        group: u32,
        new: impl Iterator<Item = (Option<u32>, Sum)>,
    ) -> Pairs {
        let mut added = New::default();
        for (node, sum) in new {
            match node {
                Some(node) => {
                    *added.own.entry(node).or_default() += sum;
                    added.tagged += sum;
                }
                None => added.bare += sum,
            }
        }
        let Group { all, bare } = self.groups.get(group as usize).copied().unwrap_or_default();
        let mut pairs = added.bare.within();
        pairs += added.bare.with(added.tagged);
        pairs += added.bare.with(all);
        pairs += added.tagged.with(bare);
        for (&node, &sum) in &added.own {
            pairs += sum.within();
            pairs += sum.with(self.below.get(node as usize).copied().unwrap_or_default());
            for above in forest.up(Some(node)).skip(1) {
                pairs += sum.with(self.own(above));
                pairs += sum.with(added.own.get(&above).copied().unwrap_or_default());
            }
        }
        pairs
    }
}

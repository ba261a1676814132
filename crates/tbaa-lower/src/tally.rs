//! Counts the sources (tags) at each forest node, to count pairs that LLVM answers with `MayAlias`.

use super::forest::Forest;
use super::loss::pairs_within;
use tbaa::parts::table::HashMap;

/// The numbers of sources at, and below, each node. With these numbers, the `MayAlias` pairs of a
/// new source are counted by visiting the ancestors of its node.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// The counts for each root.
    groups: Vec<Group>,
    own: Vec<u64>,
    below: Vec<u64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    all: u64,
    /// The number of sources without a node. They have no lowered tag, and may alias everything.
    bare: u64,
}

impl Tally {
    pub(super) fn add(&mut self, forest: &Forest, group: u32, node: Option<u32>) {
        let groups = self.groups.len().max(group as usize + 1);
        self.groups.resize(groups, Group::default());
        let group = &mut self.groups[group as usize];
        group.all += 1;
        let Some(node) = node else {
            group.bare += 1;
            return;
        };
        let nodes = self.own.len().max(forest.nodes.len());
        self.own.resize(nodes, 0);
        self.below.resize(nodes, 0);
        self.own[node as usize] += 1;
        forest.up(Some(node)).for_each(|at| self.below[at as usize] += 1);
    }

    fn own(&self, node: u32) -> u64 {
        self.own.get(node as usize).copied().unwrap_or_default()
    }

    pub(super) fn all(&self, group: u32) -> u64 {
        self.groups.get(group as usize).copied().unwrap_or_default().all
    }

    /// Returns the number of pairs of sources under the root `group` that contain a new source and
    /// for which LLVM answers `MayAlias`. `new` lists the nodes of the new sources, each with the
    /// number of new sources there.
    pub(super) fn comparable(
        &self,
        forest: &Forest,
        group: u32,
        new: impl Iterator<Item = (Option<u32>, u64)>,
    ) -> u64 {
        let mut added: HashMap<Option<u32>, u64> = HashMap::new();
        new.for_each(|(node, sources)| *added.entry(node).or_default() += sources);
        let at = |node: Option<u32>| added.get(&node).copied().unwrap_or_default();
        let (added_bare, tagged) = (at(None), added.values().sum::<u64>() - at(None));
        let Group { all, bare } = self.groups.get(group as usize).copied().unwrap_or_default();
        let mut pairs = pairs_within(added_bare) + added_bare * (tagged + all) + tagged * bare;
        for (&node, &sources) in &added {
            let Some(number) = node else { continue };
            let above = forest.up(node).skip(1).map(|above| self.own(above) + at(Some(above)));
            let below = self.below.get(number as usize).copied().unwrap_or_default();
            pairs += pairs_within(sources) + sources * (below + above.sum::<u64>());
        }
        pairs
    }
}

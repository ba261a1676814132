//! Turns a forest of members (sets of tags) into nodes of a type tree. Members share a node if that
//! does not change which of them may alias, or if the tree would be too deep.

use tbaa::parts::table::HashMap;

/// A node of the tree, with its members.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) members: Vec<u32>,
    /// The index of the parent, which is lower.
    pub(super) above: Option<usize>,
    /// True if the node absorbed others because a path was too long.
    pub(super) capped: bool,
}

/// Returns nodes for all members. A path has at most `depth` nodes; `depth` is at least 1. `forest`
/// lists each member with its parent, parents first. `sizes[member]` is a member's number of tags.
///
/// Two members are comparable if one is an ancestor of the other. A member with only one child
/// shares a node with the child, because both are comparable to the same members. On a path that
/// is too long, nodes absorb their children on the path, preferably where few further pairs of tags
/// become comparable.
pub(super) fn levels(forest: &[(u32, Option<u32>)], sizes: &[u64], depth: usize) -> Vec<Level> {
    let mut children: HashMap<u32, u32> = HashMap::new();
    for above in forest.iter().filter_map(|&(_, above)| above) {
        *children.entry(above).or_default() += 1;
    }
    let mut node_of: HashMap<u32, usize> = HashMap::new();
    let mut nodes: Vec<Level> = Vec::new();
    for &(member, above) in forest {
        let up = above.map(|above| node_of[&above]);
        let node = match (above, up) {
            (Some(above), Some(up)) if children[&above] == 1 => up,
            _ => {
                nodes.push(Level { members: Vec::new(), above: up, capped: false });
                nodes.len() - 1
            }
        };
        nodes[node].members.push(member);
        node_of.insert(member, node);
    }
    cap(nodes, sizes, depth)
}

/// Merges nodes until no path has more than `depth` nodes.
fn cap(nodes: Vec<Level>, sizes: &[u64], depth: usize) -> Vec<Level> {
    let leaves = leaves_below(&nodes, depth);
    if leaves.is_empty() {
        return nodes;
    }
    let size = |node: &Level| {
        node.members.iter().fold(0, |sum: u64, &at| sum.saturating_add(sizes[at as usize]))
    };
    let mut own: Vec<u64> = nodes.iter().map(size).collect();
    let mut below = own.clone();
    for (at, node) in nodes.iter().enumerate().rev() {
        if let Some(up) = node.above {
            below[up] = below[up].saturating_add(below[at]);
        }
    }
    let mut into = Merged((0..nodes.len()).collect());
    for leaf in leaves {
        let mut path = vec![into.find(leaf)];
        while let Some(up) = nodes[*path.last().expect("a path has its leaf")].above {
            path.push(into.find(up));
        }
        let cost = |edge: &[usize]| {
            let [low, high] = [edge[0], edge[1]];
            let beside = below[high].saturating_sub(own[high]).saturating_sub(below[low]);
            (own[low].saturating_mul(beside), low)
        };
        let mut edges: Vec<(u64, usize)> = path.windows(2).map(cost).collect();
        edges.sort_unstable();
        for &(_, low) in edges.iter().take(path.len().saturating_sub(depth)) {
            let high = into.find(nodes[low].above.expect("an edge has two ends"));
            own[high] = own[high].saturating_add(own[low]);
            into.0[low] = high;
        }
    }
    kept(nodes, &mut into)
}

/// Returns the leaves deeper than `depth`, the deepest one first.
fn leaves_below(nodes: &[Level], depth: usize) -> Vec<usize> {
    let mut depths = vec![1_usize; nodes.len()];
    let mut leaf = vec![true; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        if let Some(up) = node.above {
            depths[at] = depths[up] + 1;
            leaf[up] = false;
        }
    }
    let mut leaves: Vec<usize> =
        (0..nodes.len()).filter(|&at| leaf[at] && depths[at] > depth).collect();
    leaves.sort_by_key(|&at| (usize::MAX - depths[at], at));
    leaves
}

/// A union-find forest: the node that absorbed each node, or the node itself if none did.
struct Merged(Vec<usize>);

impl Merged {
    fn find(&mut self, mut at: usize) -> usize {
        let Merged(into) = self;
        while into[at] != at {
            into[at] = into[into[at]];
            at = into[at];
        }
        at
    }
}

/// Returns the nodes that were not absorbed, with the members of the nodes that they absorbed.
fn kept(nodes: Vec<Level>, into: &mut Merged) -> Vec<Level> {
    let mut kept: Vec<Level> = Vec::new();
    let mut place = vec![0; nodes.len()];
    for (at, node) in nodes.into_iter().enumerate() {
        let target = into.find(at);
        if target == at {
            place[at] = kept.len();
            let above = node.above.map(|up| place[up]);
            kept.push(Level { above, ..node });
        } else {
            place[at] = place[target];
            kept[place[at]].members.extend(node.members);
            kept[place[at]].capped = true;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::levels;

    #[test]
    fn a_chain_is_one_node() {
        let forest = [(4, None), (2, Some(4)), (7, Some(2))];
        let nodes = levels(&forest, &[1; 8], 64);
        assert_eq!(nodes.len(), 1);
        assert_eq!(nodes[0].members, [4, 2, 7]);
    }

    #[test]
    fn the_cheapest_nodes_are_taken_in() {
        // 0 is the parent of 1 and 2, 2 of 3 and 4, 4 of 5 and 6. Member 1 has 9 tags, others 1.
        let forest = [
            (0, None),
            (1, Some(0)),
            (2, Some(0)),
            (3, Some(2)),
            (4, Some(2)),
            (5, Some(4)),
            (6, Some(4)),
        ];
        let nodes = levels(&forest, &[1, 9, 1, 1, 1, 1, 1], 3);
        let members: Vec<_> = nodes.iter().map(|node| node.members.clone()).collect();
        // Absorbing 4 into 2 costs 1, because 4 becomes comparable to 3. Absorbing 2 into 0 costs
        // 9, because 2 becomes comparable to 1.
        assert_eq!(members.iter().filter(|at| at.len() > 1).count(), 1);
        assert!(members.contains(&vec![0]) && members.contains(&vec![1]), "{members:?}");
        let flat = levels(&forest, &[1; 7], 1);
        assert_eq!((flat.len(), flat[0].members.len()), (1, 7));
    }
}

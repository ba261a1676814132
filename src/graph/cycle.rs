//! Adds nodes that refer to one another in a cycle. Such nodes must be added all at once.

use std::hash::BuildHasher;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use super::import::{Open, Part};
use super::operand::{OperandKind, PACKED_LIMIT, Packed};
use super::{DISTINCT, Graph, GraphError, NodeId, Shape};
use crate::table::HashMap;

impl Graph {
    /// Adds the nodes of a cycle, and returns the graph's node for each of `nodes`. A
    /// [`Part::Open`] refers to a node of the cycle by the node's index in `nodes` plus `base`.
    ///
    /// Uniqued nodes with equal operands merge, and then the nodes that refer to them may merge as
    /// well. No node of the cycle can equal a node that is in the graph already, because each has
    /// an operand that is new. A uniqued node that refers to itself becomes distinct.
    ///
    /// LLVM: `MDNode::resolveCycles`, `MDNode::handleChangedOperand`.
    pub(super) fn add_cycle<K, P>(
        &mut self,
        nodes: &[Open<'_, K, P>],
        base: u32,
    ) -> Result<Vec<NodeId>, GraphError> {
        let first = self.records.len();
        let count = nodes.iter().map(|node| node.parts.len()).sum::<usize>();
        if nodes.len() > PACKED_LIMIT.saturating_sub(first)
            || count > PACKED_LIMIT.saturating_sub(self.operands.len())
        {
            return Err(GraphError::Full);
        }
        let mut members = Vec::with_capacity(nodes.len());
        for (at, node) in nodes.iter().enumerate() {
            let pack = |part: &Part<'_, K>| match (part.operand(), part) {
                (Some(operand), _) => self.pack(operand),
                (None, Part::Open(open)) => Ok(member(first, (open - base) as usize)),
                (None, _) => Ok(Packed::NULL),
            };
            let operands = node.parts.iter().map(pack).collect::<Result<Vec<_>, _>>()?;
            let distinct = node.distinct || operands.contains(&member(first, at));
            members.push(Member { distinct, operands });
        }
        let classes = merge_equal(&mut members, first, &self.hasher);
        // The nodes are added in depth-first order from the first node.
        let mut numbers: Vec<Option<usize>> = vec![None; members.len()];
        let mut kept: Vec<usize> = Vec::new();
        let mut work = vec![0];
        while let Some(at) = work.pop() {
            let class = classes[at];
            if numbers[class].is_none() {
                numbers[class] = Some(kept.len());
                kept.push(class);
                let operands = members[class].operands.iter().rev();
                work.extend(operands.filter_map(|&operand| of_member(operand, first)));
            }
        }
        let number = |at: usize| numbers[classes[at]].unwrap_or_default();
        for &class in &kept {
            let from = self.operands.len();
            let Member { distinct, operands } = &members[class];
            let renumbered = operands.iter().map(|&operand| match of_member(operand, first) {
                Some(at) => member(first, number(at)),
                None => operand,
            });
            self.operands.extend(renumbered);
            self.push_record(from, if *distinct { DISTINCT } else { 0 })?;
        }
        self.inherit_in_cycle(first);
        for (index, &class) in (first..).zip(&kept) {
            if !members[class].distinct {
                let hash = self.hash_of(index as u32);
                self.make_unique(index as u32, hash);
            }
        }
        Ok((0..nodes.len()).map(|at| self.id(first + number(at))).collect())
    }

    /// Calls [`Graph::inherit`] for the nodes from index `first` on, for a parent before its
    /// children. If parents form a cycle, none of the nodes in that cycle has a root.
    fn inherit_in_cycle(&mut self, first: usize) {
        let mut to_parent = DiGraph::<(), ()>::new();
        let nodes: Vec<_> = (first..self.records.len()).map(|_| to_parent.add_node(())).collect();
        for &node in &nodes {
            let id = self.id(first + node.index());
            let parent = Shape::of(self, id).parent(self, id).map(NodeId::index);
            if let Some(&parent) = parent.and_then(|parent| nodes.get(parent.checked_sub(first)?)) {
                to_parent.add_edge(node, parent, ());
            }
        }
        for node in kosaraju_scc(&to_parent).into_iter().flatten() {
            self.inherit(self.id(first + node.index()));
        }
    }
}

/// A node of the cycle. In its operands, the graph index `first + at` stands for the cycle's node
/// `at`, where `first` is the number of nodes in the graph before the cycle is added.
struct Member {
    /// True if the node never merges with another.
    distinct: bool,
    operands: Vec<Packed>,
}

fn member(first: usize, at: usize) -> Packed {
    // `add_cycle` has checked that the indices of all members fit in a `Packed`.
    Packed::new(OperandKind::Node, first + at).unwrap_or(Packed::NULL)
}

fn of_member(operand: Packed, first: usize) -> Option<usize> {
    (operand.kind() == OperandKind::Node).then(|| operand.index().checked_sub(first)).flatten()
}

/// Merges uniqued members whose operands are equal. Returns, for each member, the index of the
/// equal member that remains, which may be the member itself.
///
/// A member's hash is the sum of its operands' hashes, so replacing an operand takes constant time.
/// Of two equal members, a merge removes the one with fewer users, so merging is near-linear.
fn merge_equal(members: &mut [Member], first: usize, hasher: &impl BuildHasher) -> Vec<usize> {
    let term = |position: usize, operand: Packed| hasher.hash_one((position, operand));
    let mut users: Vec<Vec<(usize, usize)>> = vec![Vec::new(); members.len()];
    let mut hashes: Vec<u64> = Vec::with_capacity(members.len());
    for (at, node) in members.iter().enumerate() {
        let mut hash = 0_u64;
        for (position, &operand) in node.operands.iter().enumerate() {
            hash = hash.wrapping_add(term(position, operand));
            if let Some(used) = of_member(operand, first) {
                users[used].push((at, position));
            }
        }
        hashes.push(hash);
    }
    let mut stands_for: Vec<usize> = (0..members.len()).collect();
    let mut table: HashMap<u64, Vec<usize>> = HashMap::default();
    let mut work: Vec<usize> = (0..members.len()).rev().collect();
    while let Some(at) = work.pop() {
        if members[at].distinct || stands_for[at] != at {
            continue;
        }
        let bucket = table.entry(hashes[at]).or_default();
        let equal =
            bucket.iter().position(|&other| members[other].operands == members[at].operands);
        let Some(place) = equal else {
            bucket.push(at);
            continue;
        };
        let other = bucket[place];
        if other == at {
            continue;
        }
        let (kept, gone) =
            if users[other].len() < users[at].len() { (at, other) } else { (other, at) };
        bucket[place] = kept;
        stands_for[gone] = kept;
        for (user, position) in std::mem::take(&mut users[gone]) {
            if let Some(bucket) = table.get_mut(&hashes[user]) {
                bucket.retain(|&other| other != user);
            }
            let (old, new) = (members[user].operands[position], member(first, kept));
            members[user].operands[position] = new;
            hashes[user] =
                hashes[user].wrapping_sub(term(position, old)).wrapping_add(term(position, new));
            users[kept].push((user, position));
            work.push(user);
        }
    }
    (0..members.len())
        .map(|mut at| {
            while stands_for[at] != at {
                at = stands_for[at];
            }
            at
        })
        .collect()
}

//! Which block leads where: dominators, and loops.

use tbaa::parts::table::HashSet;
use tbaa::petgraph::Incoming;
use tbaa::petgraph::algo::dominators::simple_fast;
use tbaa::petgraph::algo::kosaraju_scc;
use tbaa::petgraph::graph::{DiGraph, NodeIndex};
use tbaa_ir::Body;

/// The blocks of a body, by their indices.
pub(super) struct Flow {
    graph: DiGraph<(), ()>,
    /// The immediate dominator; `None` of the first block and of those that are not reached.
    dominators: Vec<Option<usize>>,
}

impl Flow {
    /// `None` where the text does not name all blocks.
    pub(super) fn new(body: &Body<'_>) -> Option<Self> {
        if body.blocks.is_empty() || body.blocks[1..].iter().any(|it| it.label.is_empty()) {
            return None;
        }
        let mut graph = DiGraph::new();
        let nodes: Vec<NodeIndex> = body.blocks.iter().map(|_| graph.add_node(())).collect();
        for (from, list) in body.successors().iter().enumerate() {
            for &to in list {
                graph.add_edge(nodes[from], nodes[to], ());
            }
        }
        let found = simple_fast(&graph, nodes[0]);
        let dominators = nodes.iter().map(|&it| Some(found.immediate_dominator(it)?.index()));
        let dominators = dominators.collect();
        Some(Flow { graph, dominators })
    }

    /// Returns which blocks lie in a loop of which `weights` has `most` at most, in all. Of a
    /// loop that has more, the loops within are looked at.
    pub(super) fn small_loops(&self, weights: &[usize], most: usize) -> Vec<bool> {
        let mut found = vec![false; weights.len()];
        let mut parts = vec![(0..weights.len()).collect::<Vec<_>>()];
        let mut place = vec![usize::MAX; weights.len()];
        // How often a loop's entries are taken off, to look for loops within.
        let mut left = 1 << 20;
        while let Some(part) = parts.pop() {
            left = match usize::checked_sub(left, part.len()) {
                Some(left) => left,
                None => break,
            };
            let mut graph = DiGraph::<usize, ()>::new();
            for &block in &part {
                place[block] = graph.add_node(block).index();
            }
            for &block in &part {
                for before in self.before(block).filter(|&it| place[it] != usize::MAX) {
                    graph.add_edge(NodeIndex::new(place[before]), NodeIndex::new(place[block]), ());
                }
            }
            part.iter().for_each(|&block| place[block] = usize::MAX);
            for component in kosaraju_scc(&graph) {
                let first = component[0];
                if component.len() == 1 && !graph.contains_edge(first, first) {
                    continue;
                }
                let blocks: Vec<usize> = component.iter().map(|&it| graph[it]).collect();
                if blocks.iter().map(|&it| weights[it]).sum::<usize>() <= most {
                    blocks.iter().for_each(|&it| found[it] = true);
                    continue;
                }
                let within: HashSet<usize> = blocks.iter().copied().collect();
                let entry = |block: usize| self.before(block).any(|it| !within.contains(&it));
                parts.push(blocks.iter().copied().filter(|&it| !entry(it)).collect());
            }
        }
        found
    }

    pub(super) fn dominator(&self, block: usize) -> Option<usize> {
        self.dominators[block]
    }

    pub(super) fn before(&self, block: usize) -> impl Iterator<Item = usize> {
        self.graph.neighbors_directed(NodeIndex::new(block), Incoming).map(NodeIndex::index)
    }

    /// For each block, those that it dominates immediately: the one that dominates the most
    /// comes first.
    pub(super) fn dominated(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.dominators.len()];
        let pairs = self.dominators.iter().enumerate();
        pairs.for_each(|(at, above)| above.iter().for_each(|&above| children[above].push(at)));
        // Each after those below it.
        let mut order = vec![0];
        let mut next = 0;
        while let Some(&block) = order.get(next) {
            order.extend_from_slice(&children[block]);
            next += 1;
        }
        let mut sizes = vec![1_usize; children.len()];
        for &block in order.iter().rev() {
            sizes[block] = children[block].iter().map(|&it| sizes[it]).sum::<usize>() + 1;
            children[block].sort_by_key(|&it| std::cmp::Reverse(sizes[it]));
        }
        children
    }
}

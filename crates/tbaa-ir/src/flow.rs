//! Which block of a function leads where, and which dominates which.

use tbaa::petgraph::Incoming;
use tbaa::petgraph::algo::dominators::simple_fast;
use tbaa::petgraph::graph::{DiGraph, NodeIndex};

/// The blocks of a function, by their indices. The function begins in the first.
///
/// LLVM: `DominatorTree`.
#[derive(Debug)]
pub struct Flow {
    graph: DiGraph<(), ()>,
    /// The immediate dominator; `None` of the first block and of those that are not reached.
    dominators: Vec<Option<usize>>,
}

impl Flow {
    /// Finds what dominates what. `successors` are, for each block, those that follow it, as
    /// [`Body::successors`](crate::Body::successors) has them.
    ///
    /// # Panics
    ///
    /// If there is no block, or one that follows is none of them.
    pub fn of<'a>(successors: impl ExactSizeIterator<Item = &'a Vec<usize>>) -> Self {
        let mut graph = DiGraph::new();
        let nodes: Vec<NodeIndex> = (0..successors.len()).map(|_| graph.add_node(())).collect();
        for (&from, list) in nodes.iter().zip(successors) {
            list.iter().for_each(|&to| _ = graph.add_edge(from, nodes[to], ()));
        }
        let found = simple_fast(&graph, nodes[0]);
        let dominators = nodes.iter().map(|&it| Some(found.immediate_dominator(it)?.index()));
        Flow { dominators: dominators.collect(), graph }
    }

    /// Returns the blocks that go on to a block.
    pub fn before(&self, block: usize) -> impl Iterator<Item = usize> {
        self.graph.neighbors_directed(NodeIndex::new(block), Incoming).map(NodeIndex::index)
    }

    /// Returns the immediate dominator of a block. The first and those that are not reached have
    /// none.
    ///
    /// # Panics
    ///
    /// If there is no such block.
    #[must_use]
    pub fn dominator(&self, block: usize) -> Option<usize> {
        self.dominators[block]
    }

    /// Returns whether every way to `b` goes through `a`; no, if `b` is not reached.
    ///
    /// # Panics
    ///
    /// If there is no block `b`.
    #[must_use]
    pub fn dominates(&self, a: usize, b: usize) -> bool {
        let is_reached = b == 0 || self.dominator(b).is_some();
        is_reached && std::iter::successors(Some(b), |&it| self.dominator(it)).any(|it| it == a)
    }
}

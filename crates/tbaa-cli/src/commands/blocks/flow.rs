//! Which block leads where: dominators, loops, and what lies between two places.

use tbaa::petgraph::algo::dominators::{Dominators, simple_fast};
use tbaa::petgraph::graph::{DiGraph, NodeIndex};

use super::body::{Body, Event};

/// A natural loop: the blocks from which its header is reached again.
pub(super) struct Loop {
    pub(super) header: usize,
    pub(super) contains: Vec<bool>,
    size: usize,
}

pub(super) struct Flow {
    graph: DiGraph<(), ()>,
    dominators: Dominators<NodeIndex>,
    pub(super) loops: Vec<Loop>,
}

/// A place in a body: a block, and how many of its events come before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) block: usize,
    pub(super) event: usize,
}

impl Flow {
    /// Of a body with a block at least.
    pub(super) fn of(body: &Body<'_>) -> Self {
        let mut graph = DiGraph::new();
        for _ in &body.blocks {
            graph.add_node(());
        }
        for (from, block) in body.blocks.iter().enumerate() {
            for &to in &block.successors {
                graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), ());
            }
        }
        let dominators = simple_fast(&graph, NodeIndex::new(0));
        let mut flow = Flow { graph, dominators, loops: Vec::new() };
        flow.find_loops(body);
        flow
    }

    /// The block that every way to a block goes through last.
    pub(super) fn dominator(&self, block: usize) -> Option<usize> {
        Some(self.dominators.immediate_dominator(NodeIndex::new(block))?.index())
    }

    fn dominates(&self, a: usize, b: usize) -> bool {
        let mut all = self.dominators.dominators(NodeIndex::new(b)).into_iter().flatten();
        all.any(|block| block.index() == a)
    }

    /// Back edges to one header are one loop.
    fn find_loops(&mut self, body: &Body<'_>) {
        for header in 0..body.blocks.len() {
            let back: Vec<usize> = self
                .graph
                .neighbors_directed(NodeIndex::new(header), tbaa::petgraph::Incoming)
                .map(NodeIndex::index)
                .filter(|&from| self.dominates(header, from))
                .collect();
            if back.is_empty() {
                continue;
            }
            let mut contains = self.reaching(&back, Some(header));
            contains[header] = true;
            let size = contains.iter().filter(|&&it| it).count();
            self.loops.push(Loop { header, contains, size });
        }
    }

    /// The smallest loop that a block is in.
    pub(super) fn innermost(&self, block: usize) -> Option<&Loop> {
        self.loops.iter().filter(|it| it.contains[block]).min_by_key(|it| it.size)
    }

    /// The blocks from which one of `to` is reached, these included, without
    /// going through `not`.
    fn reaching(&self, to: &[usize], not: Option<usize>) -> Vec<bool> {
        self.spread(to, not, tbaa::petgraph::Incoming)
    }

    fn spread(
        &self,
        from: &[usize],
        not: Option<usize>,
        direction: tbaa::petgraph::Direction,
    ) -> Vec<bool> {
        let mut seen = vec![false; self.graph.node_count()];
        let mut pending = from.to_vec();
        while let Some(block) = pending.pop() {
            if Some(block) == not || std::mem::replace(&mut seen[block], true) {
                continue;
            }
            let next = self.graph.neighbors_directed(NodeIndex::new(block), direction);
            pending.extend(next.map(NodeIndex::index));
        }
        seen
    }

    /// The events on the ways from one to another that it dominates, without
    /// these two. A way does not come back to the first.
    pub(super) fn between(&self, body: &Body<'_>, from: Point, to: Point) -> Vec<Event> {
        let events = |block: usize| &body.blocks[block].events;
        if from.block == to.block && from.event < to.event {
            return events(from.block)[from.event + 1..to.event].to_vec();
        }
        let next = |block: usize, direction| {
            let near = self.graph.neighbors_directed(NodeIndex::new(block), direction);
            near.map(NodeIndex::index).collect::<Vec<_>>()
        };
        let after = self.spread(
            &next(from.block, tbaa::petgraph::Outgoing),
            Some(from.block),
            tbaa::petgraph::Outgoing,
        );
        let before = self.reaching(&next(to.block, tbaa::petgraph::Incoming), Some(from.block));
        let mut found = events(from.block)[from.event + 1..].to_vec();
        for block in (0..body.blocks.len()).filter(|&it| after[it] && before[it]) {
            found.extend(events(block));
        }
        // The block of the second may be passed as a whole before.
        if !(after[to.block] && before[to.block]) {
            found.extend(&events(to.block)[..to.event]);
        }
        found
    }
}

//! Which block leads where: dominators, loops, and what lies before a place.

use tbaa::petgraph::Incoming;
use tbaa::petgraph::algo::dominators::{Dominators, simple_fast};
use tbaa::petgraph::graph::{DiGraph, NodeIndex};

use super::body::{Body, Event};

/// Events that are passed on the way back from a place at most. Optimisers give up
/// sooner.
///
/// LLVM: `memdep-block-scan-limit`.
pub(super) const FAR: usize = 4096;

/// A natural loop: the blocks from which its header is reached again.
pub(super) struct Loop {
    pub(super) header: usize,
    pub(super) contains: Vec<bool>,
    size: usize,
}

/// What lies between a place and the events that it goes back to.
pub(super) struct Way {
    pub(super) found: Vec<Event>,
    pub(super) passed: Vec<Event>,
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

    fn dominates(&self, a: usize, b: usize) -> bool {
        let mut all = self.dominators.dominators(NodeIndex::new(b)).into_iter().flatten();
        all.any(|block| block.index() == a)
    }

    /// Back edges to one header are one loop.
    fn find_loops(&mut self, body: &Body<'_>) {
        for header in 0..body.blocks.len() {
            let back: Vec<usize> = self
                .graph
                .neighbors_directed(NodeIndex::new(header), Incoming)
                .map(NodeIndex::index)
                .filter(|&from| self.dominates(header, from))
                .collect();
            if back.is_empty() {
                continue;
            }
            let mut contains = self.reaching(&back, header);
            contains[header] = true;
            let size = contains.iter().filter(|&&it| it).count();
            self.loops.push(Loop { header, contains, size });
        }
    }

    /// The smallest loop that a block is in.
    pub(super) fn innermost(&self, block: usize) -> Option<&Loop> {
        self.loops.iter().filter(|it| it.contains[block]).min_by_key(|it| it.size)
    }

    /// How many loops a block is in.
    pub(super) fn depth(&self, block: usize) -> usize {
        self.loops.iter().filter(|it| it.contains[block]).count()
    }

    /// Whether a loop is left, or begun anew, only after this block of it.
    ///
    /// LLVM: `SimpleLoopSafetyInfo::isGuaranteedToExecute`.
    pub(super) fn is_in_every_turn(&self, body: &Body<'_>, around: &Loop, block: usize) -> bool {
        let mut ends = (0..body.blocks.len()).filter(|&it| {
            let mut next = body.blocks[it].successors.iter();
            around.contains[it] && next.any(|&to| to == around.header || !around.contains[to])
        });
        ends.all(|end| self.dominates(block, end))
    }

    /// The blocks from which one of `to` is reached, these included, without
    /// going through `not`.
    fn reaching(&self, to: &[usize], not: usize) -> Vec<bool> {
        let mut seen = vec![false; self.graph.node_count()];
        let mut pending = to.to_vec();
        while let Some(block) = pending.pop() {
            if block == not || std::mem::replace(&mut seen[block], true) {
                continue;
            }
            let before = self.graph.neighbors_directed(NodeIndex::new(block), Incoming);
            pending.extend(before.map(NodeIndex::index));
        }
        seen
    }

    /// Goes back from a place on every way, up to an event for which `is_equal`
    /// answers so. Returns these events, with those that were passed; `None` if a
    /// way from the start of the function meets no such event, or it is far.
    pub(super) fn back(
        &self,
        body: &Body<'_>,
        from: Point,
        is_equal: impl Fn(usize, usize) -> bool,
    ) -> Option<Way> {
        let mut way = Way { found: Vec::new(), passed: Vec::new() };
        let mut seen = vec![false; body.blocks.len()];
        let mut pending = vec![(from.block, from.event)];
        while let Some((block, end)) = pending.pop() {
            let events = &body.blocks[block].events;
            let near = end.saturating_sub(FAR);
            let equal = (near..end).rev().find(|&event| is_equal(block, event));
            way.passed.extend(&events[equal.map_or(near, |equal| equal + 1)..end]);
            if way.passed.len() > FAR {
                return None;
            }
            if let Some(equal) = equal {
                way.found.push(events[equal]);
                continue;
            }
            if block == 0 {
                return None;
            }
            for block in self.before(block) {
                // The block of the place is passed again as a whole.
                if !std::mem::replace(&mut seen[block], true) {
                    pending.push((block, body.blocks[block].events.len()));
                }
            }
        }
        Some(way)
    }

    /// As [`back`](Self::back), where one way into the block meets no such event:
    /// an optimiser could load there. `None` if more do, or all.
    ///
    /// LLVM: `GVNPass::PerformLoadPRE`.
    pub(super) fn partly_back(
        &self,
        body: &Body<'_>,
        from: Point,
        is_equal: impl Fn(usize, usize) -> bool,
    ) -> Option<Way> {
        let events = &body.blocks[from.block].events[..from.event];
        let mut all = Way { found: Vec::new(), passed: events.to_vec() };
        let mut missing = 0;
        for block in self.before(from.block) {
            let end = Point { block, event: body.blocks[block].events.len() };
            match self.back(body, end, &is_equal) {
                Some(way) => {
                    all.found.extend(way.found);
                    all.passed.extend(way.passed);
                }
                None => missing += 1,
            }
        }
        (missing == 1).then_some(all)
    }

    fn before(&self, block: usize) -> impl Iterator<Item = usize> {
        self.graph.neighbors_directed(NodeIndex::new(block), Incoming).map(NodeIndex::index)
    }
}

//! Computes the control flow of a function: predecessors, dominators and loops.
//!
//! A block is given by its index in a [`Function`]; block 0 is the entry. An unreachable block
//! dominates nothing, and nothing dominates it.

use std::{cell::OnceCell, collections::HashSet, ops::Range};

use crate::Function;
use tbaa::petgraph::algo::dominators::simple_fast;
use tbaa::petgraph::graph::{DiGraph, NodeIndex};
use tbaa::petgraph::{Incoming, Outgoing};

/// The largest number of steps for computing all dominance frontiers of a function.
const JOINS: usize = 1 << 22;

/// The control flow of a function with at least one block.
pub struct Flow {
    graph: DiGraph<(), ()>,
    /// The immediate dominator of each block; `None` for the entry and for unreachable blocks.
    dominators: Vec<Option<usize>>,
    /// The children of each block in the dominator tree.
    children: Vec<Vec<usize>>,
    /// The times at which a depth-first visit of the dominator tree enters and leaves each block.
    times: Vec<(u32, u32)>,
    frontiers: OnceCell<Option<Vec<Vec<usize>>>>,
    /// The natural loops, inner loops before outer ones.
    pub loops: Vec<Loop>,
    /// The innermost loop of each block, as an index into `loops`.
    innermost: Vec<Option<usize>>,
    /// The blocks of all loops. The blocks of each loop are contiguous.
    in_loops: Vec<usize>,
    /// The index of each block in `in_loops`; `usize::MAX` for a block outside loops.
    positions: Vec<usize>,
}

/// A natural loop. Back edges to the same header form one loop. Two loops are disjoint or nested.
pub struct Loop {
    /// The header: the block of the loop that dominates the others.
    pub header: usize,
    /// The number of loops that contain this loop, itself included.
    depth: usize,
    /// The range of its blocks in `Flow::in_loops`.
    span: Range<usize>,
}

/// A step of a depth-first visit of the dominator tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Visit {
    /// A block is entered, before its children in the tree.
    Enter(usize),
    /// A block is left, after its children in the tree.
    Leave(usize),
}

impl Flow {
    /// Computes the control flow of a function, with its loops.
    ///
    /// Panics if the function has no block.
    pub fn of(function: &Function<'_>) -> Self {
        let mut flow =
            Flow::without_loops(function.blocks.iter().map(|block| &block.successors[..]));
        flow.find_loops();
        flow
    }

    /// Like [`of`](Self::of), but takes the successors of each block, and does not find loops.
    /// Panics if there is no block.
    pub fn without_loops<'b>(successors: impl ExactSizeIterator<Item = &'b [usize]>) -> Self {
        let count = successors.len();
        let mut graph = DiGraph::new();
        let nodes: Vec<NodeIndex> = (0..count).map(|_| graph.add_node(())).collect();
        for (&from, after) in nodes.iter().zip(successors) {
            after.iter().for_each(|&to| _ = graph.add_edge(from, nodes[to], ()));
        }
        let found = simple_fast(&graph, nodes[0]);
        let dominators: Vec<Option<usize>> =
            nodes.iter().map(|&node| Some(found.immediate_dominator(node)?.index())).collect();
        let mut children = vec![Vec::new(); count];
        for (block, above) in dominators.iter().enumerate() {
            above.iter().for_each(|&above| children[above].push(block));
        }
        let mut flow = Flow {
            graph,
            dominators,
            children,
            times: vec![(0, 0); count],
            frontiers: OnceCell::new(),
            loops: Vec::new(),
            innermost: vec![None; count],
            in_loops: Vec::new(),
            positions: vec![usize::MAX; count],
        };
        let mut times = vec![(0, 0); count];
        for (time, visit) in (1..).zip(flow.walk()) {
            match visit {
                Visit::Enter(block) => times[block].0 = time,
                Visit::Leave(block) => times[block].1 = time,
            }
        }
        flow.times = times;
        flow
    }

    /// Returns the predecessors of a block.
    pub fn before(&self, block: usize) -> impl Iterator<Item = usize> {
        self.graph.neighbors_directed(NodeIndex::new(block), Incoming).map(NodeIndex::index)
    }

    /// Returns the immediate dominator of a block; `None` for the entry and for unreachable blocks.
    /// Panics if there is no such block.
    pub fn dominator(&self, block: usize) -> Option<usize> {
        self.dominators[block]
    }

    /// Returns whether the entry reaches a block.
    pub fn is_reached(&self, block: usize) -> bool {
        block == 0 || self.dominators[block].is_some()
    }

    /// Returns whether `a` is on every path from the entry to `b`; false if either is unreachable.
    pub fn dominates(&self, a: usize, b: usize) -> bool {
        let [of_a, of_b] = [a, b].map(|it| self.times[it]);
        self.is_reached(a) && self.is_reached(b) && of_a.0 <= of_b.0 && of_b.1 <= of_a.1
    }

    /// Returns a depth-first visit of the dominator tree, which has only the reachable blocks.
    pub fn walk(&self) -> impl Iterator<Item = Visit> {
        let mut next = vec![Visit::Enter(0)];
        std::iter::from_fn(move || {
            let visit = next.pop()?;
            if let Visit::Enter(block) = visit {
                next.push(Visit::Leave(block));
                next.extend(self.children[block].iter().rev().map(|&child| Visit::Enter(child)));
            }
            Some(visit)
        })
    }

    /// Returns each block's dominance frontier; `None` if it takes more than [`JOINS`] steps.
    ///
    /// Source: Cytron et al., "Efficiently computing static single assignment form", 1991.
    fn frontiers(&self) -> Option<Vec<Vec<usize>>> {
        let mut left = JOINS;
        let mut found = vec![Vec::new(); self.dominators.len()];
        for block in 0..found.len() {
            if !self.is_reached(block) || self.before(block).take(2).count() < 2 {
                continue;
            }
            for before in self.before(block).filter(|&before| self.is_reached(before)) {
                let mut at = Some(before);
                while let Some(runner) = at.filter(|_| at != self.dominators[block]) {
                    left = left.checked_sub(1)?;
                    if found[runner].last() != Some(&block) {
                        found[runner].push(block);
                    }
                    at = self.dominators[runner];
                }
            }
        }
        Some(found)
    }

    /// Returns the blocks that need a `phi` for a variable that each given block defines. `None` if
    /// computing the dominance frontiers takes too many steps.
    pub fn joins(&self, from: impl IntoIterator<Item = usize>) -> Option<Vec<usize>> {
        let frontiers = self.frontiers.get_or_init(|| self.frontiers()).as_ref()?;
        let mut pending: Vec<usize> = from.into_iter().collect();
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        while let Some(block) = pending.pop() {
            for &join in &frontiers[block] {
                if seen.insert(join) {
                    found.push(join);
                    pending.push(join);
                }
            }
        }
        Some(found)
    }

    /// Returns, for each block, whether a path from it reaches an end of the function.
    pub fn ends(&self) -> Vec<bool> {
        let mut pending: Vec<_> = self.graph.externals(Outgoing).collect();
        let mut ends = vec![false; self.dominators.len()];
        while let Some(block) = pending.pop() {
            if !std::mem::replace(&mut ends[block.index()], true) {
                pending.extend(self.graph.neighbors_directed(block, Incoming));
            }
        }
        ends
    }

    /// Returns the innermost loop that contains a block.
    pub fn innermost(&self, block: usize) -> Option<&Loop> {
        self.innermost[block].map(|index| &self.loops[index])
    }

    /// Returns the index in [`loops`](Self::loops) of the innermost loop that contains a block.
    pub fn innermost_index(&self, block: usize) -> Option<usize> {
        self.innermost[block]
    }

    /// Returns the number of loops that contain a block.
    pub fn depth(&self, block: usize) -> usize {
        self.innermost(block).map_or(0, |innermost| innermost.depth)
    }

    /// Returns the blocks of a loop, including those of inner loops.
    pub fn blocks_of(&self, around: &Loop) -> &[usize] {
        &self.in_loops[around.span.clone()]
    }

    /// Returns whether a loop contains a block.
    pub fn is_in(&self, around: &Loop, block: usize) -> bool {
        around.span.contains(&self.positions[block])
    }

    /// Finds the loops, inner ones first. The search goes backward from the back edges to the
    /// header, and skips a known inner loop as a whole. Same as LLVM's `LoopInfoBase::analyze`.
    fn find_loops(&mut self) {
        let mut parents: Vec<(usize, Option<usize>)> = Vec::new();
        let visits: Vec<Visit> = self.walk().collect();
        for visit in visits {
            let Visit::Leave(header) = visit else { continue };
            let is_end = |&from: &usize| self.dominates(header, from);
            let mut pending: Vec<usize> = self.before(header).filter(is_end).collect();
            if pending.is_empty() {
                continue;
            }
            let new = parents.len();
            parents.push((header, None));
            while let Some(block) = pending.pop() {
                let mut next = block;
                if let Some(mut known) = self.innermost[block] {
                    while let Some(above) = parents[known].1 {
                        known = above;
                    }
                    if known == new {
                        continue;
                    }
                    parents[known].1 = Some(new);
                    next = parents[known].0;
                } else {
                    self.innermost[block] = Some(new);
                }
                if next != header {
                    pending.extend(self.before(next).filter(|&before| self.is_reached(before)));
                }
            }
        }
        self.place_loops(&parents);
    }

    /// Stores the blocks of each loop contiguously. `parents` has the header of each loop and the
    /// index of its parent loop.
    fn place_loops(&mut self, parents: &[(usize, Option<usize>)]) {
        let mut sizes = vec![0; parents.len()];
        self.innermost.iter().flatten().for_each(|&innermost| sizes[innermost] += 1);
        for (at, &(_, parent)) in parents.iter().enumerate() {
            parent.iter().for_each(|&parent| sizes[parent] += sizes[at]);
        }
        // In a loop's `span`, its own blocks come after the blocks of the loops inside it.
        let (mut free, mut outside) = (vec![0; parents.len()], 0);
        for (at, &(header, parent)) in parents.iter().enumerate().rev() {
            let place = parent.map_or(&mut outside, |parent| &mut free[parent]);
            let start = *place;
            *place += sizes[at];
            free[at] = start;
            let depth = parent.map_or(0, |parent| self.loops[parents.len() - 1 - parent].depth) + 1;
            self.loops.push(Loop { header, depth, span: start..start + sizes[at] });
        }
        self.loops.reverse();
        self.in_loops = vec![0; outside];
        for (block, around) in self.innermost.iter().enumerate() {
            let Some(around) = *around else { continue };
            self.positions[block] = free[around];
            self.in_loops[free[around]] = block;
            free[around] += 1;
        }
    }
}

//! Loops of a function, and what its blocks dominate.

use tbaa::parts::table::HashSet;
use tbaa::petgraph::algo::kosaraju_scc;
use tbaa::petgraph::graph::{DiGraph, NodeIndex};
use tbaa_ir::{Body, Flow};

/// `None` where the text does not name all blocks.
pub(super) fn flow_of(body: &Body<'_>) -> Option<Flow> {
    let unnamed = || body.blocks[1..].iter().any(|it| it.label.is_empty());
    (!body.blocks.is_empty() && !unnamed()).then(|| Flow::of(body.successors().iter()))
}

/// Returns which blocks lie in a loop of which `weights` has `most` at most, in all. Of a
/// loop that has more, the loops within are looked at.
pub(super) fn small_loops(flow: &Flow, weights: &[usize], most: usize) -> Vec<bool> {
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
            for before in flow.before(block).filter(|&it| place[it] != usize::MAX) {
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
            let entry = |block: usize| flow.before(block).any(|it| !within.contains(&it));
            parts.push(blocks.iter().copied().filter(|&it| !entry(it)).collect());
        }
    }
    found
}

/// For each block, those that it dominates immediately: the one that dominates the most
/// comes first.
pub(super) fn dominated(flow: &Flow, blocks: usize) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); blocks];
    let pairs = (0..blocks).filter_map(|at| Some((at, flow.dominator(at)?)));
    pairs.for_each(|(at, above): (usize, usize)| children[above].push(at));
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

//! What the blocks of a function dominate.

use tbaa_ir::{Body, Flow};

/// `None` where the text does not name all blocks.
pub(super) fn flow_of(body: &Body<'_>) -> Option<Flow> {
    let unnamed = || body.blocks[1..].iter().any(|it| it.label.is_empty());
    (!body.blocks.is_empty() && !unnamed()).then(|| Flow::of(body.successors().iter()))
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

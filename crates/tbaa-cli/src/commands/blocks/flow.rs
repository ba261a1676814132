//! Loops, and what lies before a place.

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

impl Loop {
    /// The loop of a header, if it is one: back edges to one header are one loop.
    fn of(blocks: &tbaa_ir::Flow, count: usize, header: usize) -> Option<Loop> {
        let back = blocks.before(header).filter(|&from| blocks.dominates(header, from));
        let mut pending: Vec<usize> = back.collect();
        pending.first()?;
        let mut contains = vec![false; count];
        contains[header] = true;
        let mut size = 1;
        while let Some(block) = pending.pop() {
            if !std::mem::replace(&mut contains[block], true) {
                size += 1;
                pending.extend(blocks.before(block));
            }
        }
        Some(Loop { header, contains, size })
    }
}

/// What lies between a place and the events that it goes back to.
pub(super) struct Way {
    pub(super) found: Vec<Event>,
    pub(super) passed: Vec<Event>,
}

pub(super) struct Flow {
    blocks: tbaa_ir::Flow,
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
        let blocks = tbaa_ir::Flow::of(body.blocks.iter().map(|block| &block.successors));
        let count = body.blocks.len();
        let loops = (0..count).filter_map(|header| Loop::of(&blocks, count, header)).collect();
        Flow { blocks, loops }
    }

    /// The blocks that may run right before a block.
    pub(super) fn before(&self, block: usize) -> impl Iterator<Item = usize> {
        self.blocks.before(block)
    }

    /// Whether every way to a block leads through another.
    pub(super) fn dominates(&self, first: usize, block: usize) -> bool {
        self.blocks.dominates(first, block)
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
        ends.all(|end| self.blocks.dominates(block, end))
    }

    /// Goes back from a place on every way, up to an event for which `is_equal`
    /// answers so. Returns these events, with those that were passed; `None` if a
    /// way from the start of the function meets no such event, or it is far. So is
    /// a way that meets an event of which `is_start` holds first: there is nothing
    /// to reuse before it.
    pub(super) fn back(
        &self,
        body: &Body<'_>,
        from: Point,
        is_equal: impl Fn(usize, usize) -> bool,
        is_start: impl Fn(&Event) -> bool,
    ) -> Option<Way> {
        let mut way = Way { found: Vec::new(), passed: Vec::new() };
        let mut seen = vec![false; body.blocks.len()];
        let mut pending = vec![(from.block, from.event)];
        while let Some((block, end)) = pending.pop() {
            let events = &body.blocks[block].events;
            let near = end.saturating_sub(FAR);
            let equal = (near..end).rev().find(|&event| is_equal(block, event));
            let passed = &events[equal.map_or(near, |equal| equal + 1)..end];
            way.passed.extend(passed);
            if way.passed.len() > FAR || passed.iter().any(&is_start) {
                return None;
            }
            if let Some(equal) = equal {
                way.found.push(events[equal]);
                continue;
            }
            if block == 0 {
                return None;
            }
            for block in self.blocks.before(block) {
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
        is_start: impl Fn(&Event) -> bool,
    ) -> Option<Way> {
        let events = &body.blocks[from.block].events[..from.event];
        let mut all = Way { found: Vec::new(), passed: events.to_vec() };
        let mut missing = 0;
        for block in self.blocks.before(from.block) {
            let end = Point { block, event: body.blocks[block].events.len() };
            match self.back(body, end, &is_equal, &is_start) {
                Some(way) => {
                    all.found.extend(way.found);
                    all.passed.extend(way.passed);
                }
                None => missing += 1,
            }
        }
        (missing == 1).then_some(all)
    }
}

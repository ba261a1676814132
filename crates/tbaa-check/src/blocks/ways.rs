//! What lies before a place.

use super::body::{Body, Event};
use tbaa_ir::Flow;

/// Events and blocks that are passed on the way back from a place at most. Optimisers give up
/// sooner.
///
/// LLVM: `memdep-block-scan-limit`, `memdep-block-number-limit`.
const FAR: usize = 512;

/// The blocks that a walk came to. The next walk begins with none, and takes no time for that.
#[derive(Default)]
pub(super) struct Marks {
    of: Vec<u32>,
    walk: u32,
}

impl Marks {
    pub(super) fn begin(&mut self, blocks: usize) {
        self.of.resize(blocks, 0);
        self.walk = self.walk.checked_add(1).unwrap_or_else(|| {
            self.of.fill(0);
            1
        });
    }

    /// Marks a block; whether it was not marked before.
    pub(super) fn insert(&mut self, block: usize) -> bool {
        std::mem::replace(&mut self.of[block], self.walk) != self.walk
    }
}

/// What lies between a place and the events that it goes back to.
pub(super) struct Way {
    pub(super) found: Vec<Event>,
    pub(super) passed: Vec<Event>,
}

/// A place in a body: a block, and how many of its events come before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) block: usize,
    pub(super) event: usize,
}

/// Goes back from a place on every way, up to an event for which `is_equal` answers so. Returns
/// these events, with those that were passed; `None` if a way from the start of the function
/// meets no such event, or it is far. So is a way that meets an event of which `is_start` holds
/// first: there is nothing to reuse before it.
pub(super) fn back(
    (body, flow): (&Body<'_>, &Flow),
    from: Point,
    is_equal: impl Fn(usize, usize) -> bool,
    is_start: impl Fn(Event) -> bool,
) -> Option<Way> {
    let mut way = Way { found: Vec::new(), passed: Vec::new() };
    let (mut seen, mut count) = (body.marks.borrow_mut(), 0);
    seen.begin(body.events.len());
    let mut pending = vec![(from.block, from.event)];
    while let Some((block, end)) = pending.pop() {
        let events = &body.events[block];
        let near = end.saturating_sub(FAR);
        let equal = (near..end).rev().find(|&event| is_equal(block, event));
        let passed = &events[equal.map_or(near, |equal| equal + 1)..end];
        way.passed.extend(passed);
        if way.passed.len() + count > FAR || passed.iter().any(|&it| is_start(it)) {
            return None;
        }
        if let Some(equal) = equal {
            way.found.push(events[equal]);
            continue;
        }
        if block == 0 {
            return None;
        }
        for block in flow.before(block) {
            // The block of the place is passed again as a whole.
            if seen.insert(block) {
                count += 1;
                pending.push((block, body.events[block].len()));
            }
        }
    }
    Some(way)
}

/// As [`back`], where one way into the block meets no such event: an optimiser could load there.
/// `None` if more do, or all.
///
/// LLVM: `GVNPass::PerformLoadPRE`.
pub(super) fn partly_back(
    (body, flow): (&Body<'_>, &Flow),
    from: Point,
    is_equal: impl Fn(usize, usize) -> bool,
    is_start: impl Fn(Event) -> bool,
) -> Option<Way> {
    let events = &body.events[from.block][..from.event];
    let mut all = Way { found: Vec::new(), passed: events.to_vec() };
    let mut missing = 0;
    for block in flow.before(from.block) {
        let end = Point { block, event: body.events[block].len() };
        match back((body, flow), end, &is_equal, &is_start) {
            Some(way) => {
                all.found.extend(way.found);
                all.passed.extend(way.passed);
            }
            None => missing += 1,
        }
    }
    (missing == 1).then_some(all)
}

//! Searches backwards from a load for the accesses that have its value.

use super::body::{Body, Event};
use tbaa_ir::Flow;

/// The largest number of events and blocks on a backward search. Optimisers give up sooner.
/// LLVM: `memdep-block-scan-limit`, `memdep-block-number-limit`.
const FAR: usize = 512;

/// The set of blocks that a search has visited. It takes constant time to start the next search,
/// which only increases a counter.
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

    /// Marks a block, and returns true if it was not marked before.
    pub(super) fn insert(&mut self, block: usize) -> bool {
        std::mem::replace(&mut self.of[block], self.walk) != self.walk
    }
}

/// The result of a backward search: the accesses where it ended, and the events that it passed.
pub(super) struct Way {
    pub(super) found: Vec<Event>,
    pub(super) passed: Vec<Event>,
}

/// A position in a body: a block, and the number of that block's events before it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) block: usize,
    pub(super) event: usize,
}

/// Searches back from `from` on every path, until `is_equal` accepts an event. Returns the accepted
/// events and the passed ones. Returns `None` if a path reaches the function's entry or an event
/// that `is_start` accepts (no earlier value is valid there), or if the search is longer than
/// [`FAR`].
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
        if way.passed.len() + count > FAR || passed.iter().any(|&passed| is_start(passed)) {
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
            // The block of `from` itself may be entered again through a loop, and is then scanned
            // as a whole.
            if seen.insert(block) {
                count += 1;
                pending.push((block, body.events[block].len()));
            }
        }
    }
    Some(way)
}

/// Like [`back`], for a block where the search fails in exactly one predecessor: an optimiser could
/// load there. Otherwise returns `None`. LLVM: `GVNPass::PerformLoadPRE`.
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

//! Searches backwards from a load for earlier accesses that load or store the same value.

use super::body::{Body, Event};
use tbaa_ir::Flow;

/// The largest total of events and blocks in a backward search. LLVM has such limits:
/// `memdep-block-scan-limit`, `memdep-block-number-limit`.
const FAR: usize = 512;

/// The blocks that the current search has visited: those whose number in `of` is `walk`, the number
/// of the search.
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

    /// Marks a block. Returns true if the current search had not marked it before.
    pub(super) fn insert(&mut self, block: usize) -> bool {
        std::mem::replace(&mut self.of[block], self.walk) != self.walk
    }
}

/// The result of a backward search: the events where it ended, and the events that it passed.
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

/// Searches back from `from` on every path, until `is_equal` accepts an event, given as a block and
/// the event's index in that block. Returns the accepted events and the passed events. Returns
/// `None` if the search is longer than [`FAR`], or if a path reaches the function's entry or an
/// event that `is_start` accepts. A value from before such an event is not valid after it.
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
            // A loop may enter the block of `from` again. The block is then scanned as a whole.
            if seen.insert(block) {
                count += 1;
                pending.push((block, body.events[block].len()));
            }
        }
    }
    Some(way)
}

/// Runs [`back`] from the end of each predecessor. Returns the events if exactly one search fails:
/// an optimiser could insert a load there. LLVM: `GVNPass::PerformLoadPRE`.
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

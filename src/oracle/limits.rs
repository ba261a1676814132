//! Where the engine stops and answers `MayAlias`.
//!
//! Each limit bounds the time and memory of one query. Only graphs made to
//! reach one do: whether a path of a given offset exists at all is the
//! subset-sum problem once fields may overlap at will.

/// Steps of the search in one query: types and places visited and byte patterns
/// compared. They take some milliseconds at most, and the largest query on a
/// struct with 10,000 members at one offset takes 30,000.
pub(crate) const STEPS: u32 = 1 << 16;

/// Steps of the search that explains an answer which the tables gave.
pub(crate) const STEPS_TO_EXPLAIN: u32 = 1 << 20;

/// Element combinations tried when two byte patterns have more than two array
/// strides between them that simplification does not remove. The contract asks
/// for 4,096; a trial is an `O(log)` computation, so there is room for more.
pub(crate) const ELEMENTS: u32 = 1 << 16;

/// Array strides of two byte patterns together, after simplification. Each has
/// at least two elements, so with more of them than this the combinations
/// exceed 4,096 (two strides need no trials).
pub(crate) const STRIDES: usize = 14;

/// Times that the bounds of a sum are tightened before its elements are tried
/// or computed. One or two do nearly all the good.
pub(crate) const TIGHTENINGS: u32 = 4;

/// Fields that are looked at shortly for each step: whether one can lead anywhere.
pub(crate) const LOOKS: usize = 16;

/// Steps that all searches of one comparison of many tags take together: those of
/// a lint, or of one call of a lowering. A few seconds at most,
pub(crate) const COMPARED: u64 = 1 << 24;

/// and further ones for each node of the graph.
pub(crate) const COMPARED_A_NODE: u64 = 1 << 10;

/// Steps to list what is inside one type: an entry, or a field looked at. The
/// largest struct of a real program takes some hundreds.
pub(crate) const LISTED_A_TYPE: u32 = 1 << 16;

/// Steps to list what is inside the types of a small graph.
pub(crate) const LISTED: usize = 1 << 18;

/// Further such steps for each node of the graph. Real modules need less than
/// one; a chain of structs each of which is copied whole needs half its length.
pub(crate) const LISTED_A_NODE: usize = 64;

/// Steps to find out what the tags of a small graph denote.
pub(crate) const JUDGED: usize = 1 << 22;

/// Further such steps for each node of the graph. Real modules take one to three.
pub(crate) const JUDGED_A_NODE: usize = 32;

/// Steps for all tags of a graph, which grows with it. Beyond it, a tag may alias
/// everything: tables must not take time in proportion to tags times members.
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    base: usize,
    a_node: usize,
    spent: usize,
    /// Whether some task got fewer steps than its limit: on a larger graph it
    /// would have got more.
    pub(crate) was_short: bool,
}

impl Allowance {
    pub(crate) fn new(base: usize, a_node: usize) -> Self {
        Allowance { base, a_node, spent: 0, was_short: false }
    }

    /// Calls a task with at most so many steps, for a graph of so many nodes.
    pub(crate) fn within<T>(
        &mut self,
        nodes: usize,
        limit: u32,
        task: impl FnOnce(&mut Budget) -> T,
    ) -> T {
        let all = self.base.saturating_add(self.a_node.saturating_mul(nodes));
        let left = all.saturating_sub(self.spent).min(limit as usize) as u32;
        self.was_short |= left < limit;
        let mut budget = Budget(left);
        let result = task(&mut budget);
        self.spent += (left - budget.0) as usize;
        result
    }

    /// Whether a task that was given `limit` steps got fewer.
    pub(crate) fn is_short(&self, nodes: usize, limit: u32) -> bool {
        let all = self.base.saturating_add(self.a_node.saturating_mul(nodes));
        all.saturating_sub(self.spent) < limit as usize
    }
}

/// What is left of a limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget(u32);

/// A limit was reached: nothing is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Exhausted;

impl Budget {
    pub(crate) fn new(steps: u32) -> Self {
        Budget(steps)
    }

    /// Takes one step.
    pub(crate) fn spend(&mut self) -> Result<(), Exhausted> {
        self.take(1)
    }

    /// Takes the steps that so many looks cost.
    pub(crate) fn look(&mut self, looks: usize) -> Result<(), Exhausted> {
        self.take(u32::try_from(looks / LOOKS).unwrap_or(u32::MAX))
    }

    fn take(&mut self, steps: u32) -> Result<(), Exhausted> {
        // What is left counts for nothing more.
        let left = self.0.checked_sub(steps);
        self.0 = left.unwrap_or(0);
        left.map(|_| ()).ok_or(Exhausted)
    }

    /// What is left.
    pub(crate) fn left(self) -> u32 {
        self.0
    }

    /// Sets `limit` steps apart for one task, and calls it with them; what it
    /// spends is spent here, too.
    pub(crate) fn within<T>(&mut self, limit: u32, task: impl FnOnce(&mut Budget) -> T) -> T {
        let mut part = Budget(limit.min(self.0));
        let before = part.0;
        let result = task(&mut part);
        self.0 -= before - part.0;
        result
    }
}

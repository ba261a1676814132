//! The limits at which the engine stops and answers `MayAlias`.
//!
//! Each limit bounds the time and memory of one query. Only adversarial graphs reach a limit: if
//! fields may overlap arbitrarily, deciding whether a path with a given offset exists is the
//! subset-sum problem.

/// The most steps of one search: for a tag's paths, or for a place where two sets of paths meet. A
/// step visits a type or place, or compares two byte patterns. A search that reaches the limit has
/// run for a few milliseconds. For comparison: on a struct with 10,000 members at one offset, the
/// largest search takes 30,000 steps.
pub(crate) const STEPS: u32 = 1 << 16;

/// The most paths, or places on them, that are cached for one tag. A tag with more is searched
/// again for each query.
pub(crate) const STORED_PATHS: usize = 1 << 6;

/// Element combinations tried when two byte patterns have more than two array strides between them
/// that simplification does not remove. The documented minimum is 4,096; a trial is an `O(log)`
/// computation, so there is room for more.
pub(crate) const ELEMENTS: u32 = 1 << 16;

/// Elements of an array that rule `union-strict` tries one by one, if another field shares bytes
/// with the array.
pub(crate) const STRICT_ELEMENTS: u128 = 1 << 12;

/// The most array strides of two byte patterns together, after simplification. Two strides need no
/// trials, and each further one has at least two elements. More strides than this have over 4,096
/// combinations, the documented minimum of [`ELEMENTS`].
pub(crate) const STRIDES: usize = 14;

/// Times that the bounds of a sum are tightened before its elements are tried
/// or computed. One or two do nearly all the good.
pub(crate) const TIGHTENINGS: u32 = 4;

/// Fields that [`Budget::look`] counts as one step. Looking at a field only checks whether a path
/// can continue there, which is cheaper than a step.
pub(crate) const FIELDS_A_STEP: usize = 16;

/// Steps that all searches of one comparison of many tags share: a matrix, a lint, or one call of a
/// lowering. [`COMPARED_A_NODE`] adds steps for large graphs. All steps take a few seconds at most.
pub(crate) const COMPARED: u64 = 1 << 23;

/// Steps that are added to [`COMPARED`] for each node of the graph.
pub(crate) const COMPARED_A_NODE: u64 = 1 << 10;

/// The steps that are left of a limit.
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

    /// Takes one step for each [`FIELDS_A_STEP`] fields looked at.
    pub(crate) fn look(&mut self, looks: usize) -> Result<(), Exhausted> {
        self.take(u32::try_from(looks / FIELDS_A_STEP).unwrap_or(u32::MAX))
    }

    fn take(&mut self, steps: u32) -> Result<(), Exhausted> {
        // A further step finds nothing left.
        let left = self.0.checked_sub(steps);
        self.0 = left.unwrap_or(0);
        left.map(|_| ()).ok_or(Exhausted)
    }

    /// Returns the steps that are left.
    pub(crate) fn left(self) -> u32 {
        self.0
    }

    /// Runs a task with a budget of at most `limit` steps. The steps that the task takes are taken
    /// from this budget too.
    pub(crate) fn within<T>(&mut self, limit: u32, task: impl FnOnce(&mut Budget) -> T) -> T {
        let mut part = Budget(limit.min(self.0));
        let before = part.0;
        let result = task(&mut part);
        self.0 -= before - part.0;
        result
    }
}

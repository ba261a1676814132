//! The limits of a search. When a search reaches a limit, the oracle answers `MayAlias`. A *byte
//! pattern* is a byte range that is repeated for the elements of arrays.
//!
//! Only graphs that were made to be hard reach a limit: if fields may overlap arbitrarily, deciding
//! whether a path with a given offset exists is the subset-sum problem.

/// The largest number of steps of one search, which finds the paths of a tag or an overlap between
/// two sets of paths. A step visits a type at an offset, or compares two byte patterns. In a struct
/// with 10,000 members at one offset, the longest search takes 30,000 steps.
pub(crate) const STEPS: u32 = 1 << 16;

/// The largest number of paths, and of types at offsets on these paths, that are cached for one
/// tag. For a tag that has more, each query searches again.
pub(crate) const STORED_PATHS: usize = 1 << 6;

/// The largest number of combinations of array elements that are tried for two byte patterns. The
/// documentation promises 4,096.
pub(crate) const ELEMENTS: u32 = 1 << 16;

/// The largest number of array elements that rule `union-strict` tries one by one, if another field
/// shares bytes with the array.
pub(crate) const STRICT_ELEMENTS: u128 = 1 << 12;

/// The largest number of array strides in two byte patterns together, after simplification. Two
/// strides need no trials, and each additional array has at least two elements. So more strides
/// than this have over 4,096 combinations, more than the documentation promises to try.
pub(crate) const STRIDES: usize = 14;

/// The largest number of times that the search for common bytes of two byte patterns narrows the
/// range of array elements. The first one or two times have nearly all the effect.
pub(crate) const TIGHTENINGS: u32 = 4;

/// The number of fields that [`Budget::look`] counts as one step. Looking at a field only checks
/// whether a path can continue there, which takes less time than a step.
pub(crate) const FIELDS_A_STEP: usize = 16;

/// The number of steps that all searches share when one call compares many tags, for example
/// `Oracle::matrix`.
pub(crate) const COMPARED: u64 = 1 << 23;

/// The number of steps that are added to [`COMPARED`] for each node of the graph.
pub(crate) const COMPARED_A_NODE: u64 = 1 << 10;

/// The number of steps that a search may still take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget(u32);

/// The error for a search that reached its limit, so that its result is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Exhausted;

impl Budget {
    pub(crate) fn new(steps: u32) -> Self {
        Budget(steps)
    }

    pub(crate) fn spend(&mut self) -> Result<(), Exhausted> {
        self.take(1)
    }

    /// Uses one step for every [`FIELDS_A_STEP`] of the `looks` fields.
    pub(crate) fn look(&mut self, looks: usize) -> Result<(), Exhausted> {
        self.take(u32::try_from(looks / FIELDS_A_STEP).unwrap_or(u32::MAX))
    }

    fn take(&mut self, steps: u32) -> Result<(), Exhausted> {
        // After a failure, no steps are left, so each later call that needs a step fails too.
        let left = self.0.checked_sub(steps);
        self.0 = left.unwrap_or(0);
        left.map(|_| ()).ok_or(Exhausted)
    }

    pub(crate) fn left(self) -> u32 {
        self.0
    }

    /// Runs a task with a budget of at most `limit` steps. The steps that the task uses are
    /// subtracted from this budget too.
    pub(crate) fn within<T>(&mut self, limit: u32, task: impl FnOnce(&mut Budget) -> T) -> T {
        let mut part = Budget(limit.min(self.0));
        let before = part.0;
        let result = task(&mut part);
        self.0 -= before - part.0;
        result
    }
}

//! Counting the pairs that are lost.

/// The loss of a lowering: pairs of sources that the rule calls `NoAlias` and
/// LLVM does not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Loss {
    /// Pairs of sources that the rule calls `NoAlias`.
    pub no_alias: u64,
    /// The pairs that are lost.
    pub pairs: u64,
    /// True if some pairs count as aliasing because searches reached their limit
    /// ([`Lowering::lower`](super::Lowering::lower)). The numbers here do not include those.
    pub unsearched: bool,
}

impl Loss {
    /// Returns the share of the rule's `NoAlias` pairs that LLVM keeps; 1 if there are none.
    #[must_use]
    pub fn kept(&self) -> f64 {
        if self.no_alias == 0 { 1.0 } else { 1.0 - self.pairs as f64 / self.no_alias as f64 }
    }
}

/// Returns the number of pairs among this many sources, which must be less than 2^32.
pub(super) fn pairs_within(sources: u64) -> u64 {
    sources * sources.saturating_sub(1) / 2
}

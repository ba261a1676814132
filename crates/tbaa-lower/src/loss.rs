//! Counts the pairs of tags for which an alias rule answers `NoAlias`, but LLVM does not.

/// The loss of a lowering: pairs of sources (its input tags) for which the alias rule answers
/// `NoAlias`, but LLVM does not answer `NoAlias` for their new tags.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Loss {
    /// The number of pairs of sources for which the rule answers `NoAlias`.
    pub no_alias: u64,
    /// The number of these pairs for which LLVM does not answer `NoAlias`.
    pub pairs: u64,
    /// True if some pairs count as aliasing because searches reached their limit
    /// ([`Lowering::lower`](super::Lowering::lower)). The numbers here do not include these pairs.
    pub unsearched: bool,
}

impl Loss {
    /// Returns the fraction of `no_alias` for which LLVM answers `NoAlias`; 1 if `no_alias` is 0.
    pub fn kept(&self) -> f64 {
        if self.no_alias == 0 { 1.0 } else { 1.0 - self.pairs as f64 / self.no_alias as f64 }
    }
}

/// Returns the number of pairs of different items among `sources` items; `sources` is below 2^32.
pub(super) fn pairs_within(sources: u64) -> u64 {
    sources * sources.saturating_sub(1) / 2
}

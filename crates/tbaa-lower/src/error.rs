//! The reasons why tags cannot be lowered (replaced by tags that LLVM interprets correctly).

use tbaa::{AliasRule, BuildError};

/// The reason why sources (the tags to be lowered) were not lowered.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// A tag is not from the oracle's graph, or the earlier sources are from another graph.
    #[error("a tag that another graph issued: a lowering's sources are tags of one graph")]
    ForeignTag,
    /// The earlier sources were lowered with another rule than the oracle's.
    #[error("the sources before were lowered by rule {before}: go on with that")]
    OtherRule {
        /// The rule that the earlier sources were lowered with.
        before: AliasRule,
    },
    /// Without [`Options::lineage`](super::Options::lineage), only the first call can add sources.
    #[error("the lowering has no lineage to grow: name one with `Options::lineage`")]
    NoLineage,
    /// A source that was lowered as [private](super::Source::private) memory is now requested as
    /// memory that other modules access. The source's tag need not alias the other modules' tags.
    #[error(
        "`{place}` was lowered as private memory, and other code accesses it now: lower it without \
         `Source::private` from the start, or name its record in `Shared`"
    )]
    Private {
        /// The types and offset of the source.
        place: String,
    },
    /// The graph of the lowered tags is full.
    #[error(transparent)]
    Build(#[from] BuildError),
}

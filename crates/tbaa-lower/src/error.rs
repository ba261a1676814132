//! The reason why sources are not lowered.

use tbaa::AliasRule;
use tbaa::BuildError;

/// The reason why sources were not lowered.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// A tag was issued by another graph than the oracle's, or than that of the
    /// sources before.
    #[error("a tag that another graph issued: a lowering's sources are tags of one graph")]
    ForeignTag,
    /// The oracle follows another rule than that of the sources before.
    #[error("the sources before were lowered by rule {before}: go on with that")]
    OtherRule {
        /// The rule of the sources before.
        before: AliasRule,
    },
    /// Sources were added to a lowering whose lineage has no name.
    #[error("the lowering has no lineage to grow: name one with `Options::lineage`")]
    NoLineage,
    /// A source that was lowered as [private](super::Source::private) is requested as shared. Its
    /// tag was given out, and does not alias the tags of others.
    #[error(
        "`{place}` was lowered as private memory, and other code accesses it now: lower it without \
         `Source::private` from the start, or name its record in `Shared`"
    )]
    Private {
        /// The source's types and offset.
        place: String,
    },
    /// The lowered graph is full.
    #[error(transparent)]
    Build(#[from] BuildError),
}

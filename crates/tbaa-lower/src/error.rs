//! Why sources are not lowered.

use std::fmt;

use tbaa::AliasRule;
use tbaa::BuildError;

/// Why sources were not lowered.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LowerError {
    /// A tag was issued by another graph than the oracle's, or than that of the
    /// sources before.
    ForeignTag,
    /// The oracle follows another rule than that of the sources before.
    OtherRule {
        /// The rule of the sources before.
        before: AliasRule,
    },
    /// Sources were added to a lowering whose lineage has no name.
    NoLineage,
    /// A source that was lowered as [private](super::Source::private) is asked for
    /// as shared. Its tag was given out, and others' tags do not alias it.
    Private {
        /// The source's types and offset.
        place: String,
    },
    /// The lowered graph is full.
    Build(BuildError),
}

impl fmt::Display for LowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LowerError::ForeignTag => f.write_str(
                "a tag that another graph issued: a lowering's sources are tags of one graph",
            ),
            LowerError::OtherRule { before } => {
                write!(f, "the sources before were lowered by rule {before}: go on with that")
            }
            LowerError::NoLineage => {
                f.write_str("the lowering has no lineage to grow: name one with `Options::lineage`")
            }
            LowerError::Private { place } => write!(
                f,
                "`{place}` was lowered as private memory, and other code accesses it now: lower \
                 it without `Source::private` from the start, or name its record in `Shared`"
            ),
            LowerError::Build(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LowerError {
    /// The text is that of an error inside, and so is the cause.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LowerError::Build(error) => error.source(),
            _ => None,
        }
    }
}

impl From<BuildError> for LowerError {
    fn from(error: BuildError) -> Self {
        LowerError::Build(error)
    }
}

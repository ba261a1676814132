//! The reason why a tag stands where it does.

use std::fmt;

/// The reason why a source's tag stands where it does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Why {
    /// It has type chosen of the sources that came with it.
    Completed,
    /// Other modules may access its memory: it stands where each of them puts it,
    /// or above ([`Lowering::fix`](super::Lowering::fix)).
    Shared,
    /// The sources that it may alias stand on branches that part: it stands where they do.
    CommonAncestor,
    /// It stood deeper than may be, and was put at a node above.
    DepthLimit,
    /// It may alias so many that [`MAX_BYTES`](super::MAX_BYTES) did not hold
    /// them: it has no tag.
    TooManyPairs,
    /// The sources that it may alias have no node in common: it has no tag.
    NothingInCommon,
    /// Its source is no tag that can be read: it has no tag.
    Malformed,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Why::Completed => "type chosen",
            Why::Shared => "the node of shared memory, which other modules use too",
            Why::CommonAncestor => "the nearest node that covers all that it may alias",
            Why::DepthLimit => "the depth limit",
            Why::TooManyPairs => "no tag: it may alias more than could be looked at",
            Why::NothingInCommon => "no tag: no node covers all that it may alias",
            Why::Malformed => "no tag: the source is malformed",
        })
    }
}

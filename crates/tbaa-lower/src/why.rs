//! The reason for a tag's place.

use std::fmt;

/// The reason for the place of a source's tag.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Why {
    /// The forest chose its place together with other new sources.
    Completed,
    /// Other modules may access its memory: its place is where each of them puts it, or above
    /// ([`Lowering::fix`](super::Lowering::fix)).
    Shared,
    /// The sources that it may alias are on different branches: its place is their nearest common
    /// node.
    CommonAncestor,
    /// It would be too deep, and was moved to a node above.
    DepthLimit,
    /// It may alias so many sources that they exceed [`MAX_BYTES`](super::MAX_BYTES): it has no
    /// tag.
    TooManyPairs,
    /// The sources that it may alias have no common node: it has no tag.
    NothingInCommon,
    /// Its source is not a readable tag: it has no tag.
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

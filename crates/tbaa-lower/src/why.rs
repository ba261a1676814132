//! The reason why a tag was placed at its node of the type forest.

use std::fmt;

/// The reason why a source (a tag that was lowered) got its node, or none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Why {
    /// The node is from a tree that was made for this source and other new sources together.
    Completed,
    /// Other modules may access the memory: the source is at the node that all these modules choose
    /// for it, or at an ancestor ([`Lowering::fix`](super::Lowering::fix)).
    Shared,
    /// The sources that this source may alias are on different branches, so this source is at their
    /// nearest common ancestor.
    CommonAncestor,
    /// The source's own node would be too deep, so the source is at a higher node.
    DepthLimit,
    /// The source may alias so many others that storing these pairs would exceed
    /// [`MAX_BYTES`](super::MAX_BYTES), so the source has no tag.
    TooManyPairs,
    /// The sources that this source may alias have no common node, so this source has no tag.
    NothingInCommon,
    /// The source is not a readable tag, so it has no lowered tag.
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

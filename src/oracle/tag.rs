//! What a tag says by itself, and the tag that replaces two.

use std::borrow::Borrow;

use super::grow::Oracle;
use crate::graph::{Graph, Tag, TagId, TagParts};

impl<G: Borrow<Graph>> Oracle<G> {
    /// Returns whether the tag promises that its memory is never modified
    /// while it can be read.
    ///
    /// LLVM: `TypeBasedAAResult::getModRefInfoMask`.
    #[must_use]
    pub fn is_constant(&self, tag: impl Into<Option<TagId>>) -> bool {
        tag.into().is_some_and(|tag| {
            self.graph().owns_tag(tag) && self.graph().tag(tag).is_ok_and(|tag| tag.immutable)
        })
    }

    /// Returns what the tag of one access that replaces accesses `a` and `b`
    /// must say, or `None` when no tag can say it and the access must go
    /// untagged.
    ///
    /// Rule `llvm` answers what LLVM 22 answers, but for immutability: the
    /// result is immutable only if both are, where LLVM sometimes keeps one
    /// side's flag. NB: as in LLVM the result depends on the order of `a` and
    /// `b`, and where an aggregate access meets one of its fields it may be
    /// the field's tag.
    ///
    /// The union rules promise more: what may alias `a` or `b` may alias the
    /// result, and so will accesses to types added later.
    ///
    /// LLVM: `MDNode::getMostGenericTBAA`.
    #[must_use]
    pub fn most_generic(
        &self,
        a: impl Into<Option<TagId>>,
        b: impl Into<Option<TagId>>,
    ) -> Option<Tag> {
        let (a, b) = (a.into()?, b.into()?);
        if !self.graph().owns_tag(a) || !self.graph().owns_tag(b) {
            return None;
        }
        let generic = self.engine().most_generic(self.graph(), &self.index, a, b)?;
        let graph = self.graph();
        let immutable = |tag| TagParts::is_immutable(graph, graph.tag_node(tag));
        Some(Tag { immutable: immutable(a) && immutable(b), ..generic })
    }

    /// Returns whether the oracle's rules take a tag for well formed. Every
    /// query about one that is not answers `MayAlias`.
    ///
    /// For rule `llvm` that is LLVM's own verdict. For the union rules the tag
    /// must denote a path, through types that are well formed, of one format,
    /// and do not contain themselves. Either accepts tags that the other does
    /// not: LLVM follows only the last member of a union.
    #[must_use]
    pub fn is_well_formed(&self, tag: TagId) -> bool {
        self.is_well_formed_within(tag, &mut { u64::MAX }) == Some(true)
    }

    /// The same, with the steps of a search taken from those `left`; `None` if they, or
    /// the search's own limit, do not suffice.
    #[doc(hidden)]
    pub fn is_well_formed_within(&self, tag: TagId, left: &mut u64) -> Option<bool> {
        if !self.graph().owns_tag(tag) {
            return Some(false);
        }
        self.engine().is_well_formed(self.graph(), &self.index, tag, left)
    }
}

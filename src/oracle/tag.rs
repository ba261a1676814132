//! The meaning of one tag, and the tag that replaces two.

use std::borrow::Borrow;

use super::grow::Oracle;
use crate::extent::Size;
use crate::graph::{Graph, Tag, TagId, TagParts};

impl<G: Borrow<Graph>> Oracle<G> {
    /// Returns whether the tag promises that its memory is never modified while it can be read.
    ///
    /// LLVM: `TypeBasedAAResult::getModRefInfoMask`.
    pub fn is_constant(&self, tag: impl Into<Option<TagId>>) -> bool {
        tag.into().is_some_and(|tag| {
            self.graph().owns_tag(tag) && self.graph().tag(tag).is_ok_and(|tag| tag.immutable)
        })
    }

    /// Returns the tag for one access that replaces accesses `a` and `b`, or `None` if no tag can
    /// express it and the access must stay untagged.
    ///
    /// Rule `llvm` answers like LLVM 22, except for immutability: the result is immutable only if
    /// both are, while LLVM sometimes keeps one side's flag. NB: as in LLVM the result depends on
    /// the order of `a` and `b`, and if an aggregate access meets one of its fields it may be the
    /// field's tag.
    ///
    /// The union rules promise more: accesses that may alias `a` or `b` may alias the result,
    /// including accesses to types added later.
    ///
    /// LLVM: `MDNode::getMostGenericTBAA`.
    pub fn most_generic(
        &self,
        a: impl Into<Option<TagId>>,
        b: impl Into<Option<TagId>>,
    ) -> Option<Tag> {
        Some(self.generic(a.into()?, b.into()?)?.0)
    }

    /// The same, with the number to be written for the tag's size: that of `a` or `b` if the tag
    /// is one of these.
    #[doc(hidden)]
    pub fn most_generic_as_written(&self, a: TagId, b: TagId) -> Option<(Tag, Option<u64>)> {
        let graph = self.graph();
        let (tag, said) = self.generic(a, b)?;
        let immutable = tag.immutable;
        let is = |of: &TagId| graph.tag(*of).is_ok_and(|of| Tag { immutable, ..of } == tag);
        let number = said.map(|said| match [a, b].into_iter().find(is) {
            Some(of) if said == Size::Unknown => TagParts::size_number(graph, graph.tag_node(of)),
            _ => Some(said.into()),
        });
        Some((tag, number.flatten()))
    }

    /// Returns the most generic tag, and its size by the rule.
    fn generic(&self, a: TagId, b: TagId) -> Option<(Tag, Option<Size>)> {
        let graph = self.graph();
        if !graph.owns_tag(a) || !graph.owns_tag(b) {
            return None;
        }
        let generic = self.engine().most_generic(self.indexed(), a, b)?;
        let immutable =
            [a, b].iter().all(|&tag| TagParts::is_immutable(graph, graph.tag_node(tag)));
        let size = generic.size.map(|size| size.known().map_or(Size::Unknown, Size::Bytes));
        Some((Tag { immutable, size, ..generic }, generic.size))
    }

    /// Returns whether a tag is well formed by the oracle's rule. Every query about an ill-formed
    /// one answers `MayAlias`.
    ///
    /// For rule `llvm` this is LLVM's own verdict. For the union rules the tag must have a path,
    /// through types that are well formed, of one format, and not recursive. Each accepts tags that
    /// the other does not: LLVM follows only the last member of a union.
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
        self.engine().is_well_formed(self.indexed(), tag, left)
    }
}

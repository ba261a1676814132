//! Queries about one tag, and the tag for an access that replaces two others.

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

    /// Returns the tag for one access that replaces accesses with tags `a` and `b`. If this returns
    /// `None`, the access must have no tag.
    ///
    /// Rule `llvm` answers like LLVM 22, except for immutability: the result is immutable only if
    /// both tags are, while LLVM sometimes uses the flag of one of them. NB: as in LLVM, the order
    /// of `a` and `b` matters, and if one tag accesses an aggregate and the other its field, the
    /// result may be the field's tag.
    ///
    /// Rules `union` and `union-strict` promise more: an access that may alias `a` or `b` may also
    /// alias the result, even if its type is added later.
    ///
    /// LLVM: `MDNode::getMostGenericTBAA`.
    pub fn most_generic(
        &self,
        a: impl Into<Option<TagId>>,
        b: impl Into<Option<TagId>>,
    ) -> Option<Tag> {
        Some(self.generic(a.into()?, b.into()?)?.0)
    }

    /// Like [`Oracle::most_generic`], but also returns the number to write as the tag's size. For
    /// [`Size::Unknown`], this is the number that `a` or `b` has, if one of them is the result.
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

    /// Returns the most generic tag, and its size before [`Size::known`] is applied.
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

    /// Returns whether a tag is well formed according to the oracle's rule. If it is not, every
    /// query about it answers `MayAlias`.
    ///
    /// For rule `llvm`, this is what LLVM's verifier decides. For the other rules, fields must lead
    /// from the base type to the access type at the tag's offset. These two types, the types inside
    /// them and all their ancestors must be well formed, of one format and not recursive. LLVM
    /// accepts some tags that the other rules reject, and rejects some that the other rules accept,
    /// because LLVM follows only a union's last member.
    pub fn is_well_formed(&self, tag: TagId) -> bool {
        self.is_well_formed_within(tag, &mut { u64::MAX }) == Some(true)
    }

    /// Like [`Oracle::is_well_formed`], but a search subtracts its steps from `left`. Returns
    /// `None` if `left` or the limit of the search does not suffice.
    #[doc(hidden)]
    pub fn is_well_formed_within(&self, tag: TagId, left: &mut u64) -> Option<bool> {
        if !self.graph().owns_tag(tag) {
            return Some(false);
        }
        self.engine().is_well_formed(self.indexed(), tag, left)
    }
}

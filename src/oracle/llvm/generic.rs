//! Computes the most generic tag of two: the tag that LLVM uses when it merges two accesses.
//!
//! A tag's *walk* visits types from its base type on. The tag's *cursor* is its base type and
//! offset. A tag is *regular* if its walk reaches the scalar that it accesses. On such a walk, each
//! type was added before the preceding one. For two regular tags, consider the two accessed types
//! and the first type that is on both walks: the one of these that was added first is the least
//! common ancestor of the accessed types.

use super::steps::least_common_type;
use crate::extent::Size;
use crate::graph::{Format, Graph, NodeId, Shape, Tag, TagId, TagParts, TypeId};
use crate::oracle::index::Index;

/// Returns the result of LLVM's algorithm (`mod.rs`), apart from immutability, for two different
/// regular tags of one root that may alias. `at_a` and `at_b` are their cursors.
pub(super) fn most_generic(
    graph: &Graph,
    index: &Index,
    [(a, at_a), (b, at_b)]: [(TagId, u32); 2],
) -> Option<Tag> {
    let (access_a, access_b) = (access(graph, a)?, access(graph, b)?);
    // The cursors are equal, or the one that was added first is on the walk of the other.
    let met = at_a.min(at_b);
    let common = index.walks.ty(met).min(access_a).min(access_b);
    let whole = whole(graph, graph.node_at(common));
    let covers = |at, access| index.walks.ty(at) == access && access == common;
    // In LLVM, only the walk of an old-format tag continues above the accessed type.
    let old = whole.is_none_or(|whole| whole.format == Format::Old);
    let meets = |access, other| met == other && (old || index.walks.ty(other) >= access);
    if covers(at_a, access_a) {
        return whole;
    }
    if meets(access_a, at_b) {
        return graph.tag(b).ok();
    }
    if !covers(at_b, access_b) && meets(access_b, at_a) {
        return graph.tag(a).ok();
    }
    whole
}

/// Returns the result of LLVM's algorithm for two regular tags that do not alias.
pub(super) fn of_apart(
    graph: &Graph,
    index: &Index,
    [(a, at_a), (b, at_b)]: [(TagId, u32); 2],
) -> Option<Tag> {
    let (access_a, access_b) = (access(graph, a)?, access(graph, b)?);
    let common = if access_a == access_b {
        access_a
    } else {
        let met = index.walks.ty(index.walks.forest.nearest_common(at_a, at_b)?);
        met.min(access_a).min(access_b)
    };
    whole(graph, graph.node_at(common))
}

/// Returns the result of LLVM's algorithm for any two tags that do not alias.
pub(super) fn above(graph: &Graph, tags: [TagId; 2]) -> Option<Tag> {
    let [a, b] = tags.map(|tag| TagParts::access(graph, graph.tag_node(tag)));
    whole(graph, least_common_type(graph, a?, b?).ok()??)
}

fn access(graph: &Graph, tag: TagId) -> Option<u32> {
    Some(TagParts::access(graph, graph.tag_node(tag))?.index)
}

/// Returns the tag for an access to a whole object of a type, or `None` if the type is a root.
pub(super) fn whole(graph: &Graph, ty: NodeId) -> Option<Tag> {
    let shape = Shape::of(graph, ty);
    let (base, access) = (TypeId(ty), TypeId(ty));
    // LLVM too writes `u64::MAX` as the size.
    let size = (shape.format == Format::New).then_some(Size::Bytes(u64::MAX));
    let whole = Tag { base, access, offset: 0, size, immutable: false, format: shape.format };
    (!shape.is_root()).then_some(whole)
}

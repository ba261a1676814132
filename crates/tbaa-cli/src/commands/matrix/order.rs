//! The order of rows in which tags that answer alike are neighbours.
//!
//! A tag may alias what lies above and below it in the forest that LLVM walks; in preorder of that
//! forest these are ranges, and a picture shows them as blocks and lines.

use tbaa::{Graph, TagId};
use tbaa_ir::Names;

use crate::walk::{WalkStep, walk};

/// Places of a walk, from the root, that are compared.
const PLACES: usize = 64;

/// Neighbouring rows whose tags access one type.
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) rows: usize,
}

/// Returns the tags' places in preorder: by the access type's way from its root, then by the base type's way to it.
pub(crate) fn preorder(graph: &Graph, tags: &[TagId]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..tags.len()).collect();
    order.sort_by_cached_key(|&at| key(graph, tags[at]));
    order
}

/// Types by position, with offsets: bases of a scalar before the scalars below it, what cannot be read last.
fn key(graph: &Graph, tag: TagId) -> (bool, Vec<(bool, usize, u64)>) {
    let Ok(tag) = graph.tag(tag) else { return (true, Vec::new()) };
    let above = |place: &WalkStep| (true, place.ty.node().index(), place.offset);
    let place = |place: &WalkStep| (false, place.ty.node().index(), place.offset);
    let mut key: Vec<_> = walk(graph, tag.access, 0).iter().rev().map(above).collect();
    if tag.base != tag.access {
        let way = walk(graph, tag.base, tag.offset);
        let meets = way.iter().position(|place| place.ty == tag.access && place.offset == 0);
        // Through another member of a union than LLVM's there is no such way.
        key.extend(way[..meets.unwrap_or(1)].iter().rev().map(place));
    }
    key.truncate(PLACES);
    (false, key)
}

/// Returns the groups of tags that stand in this order.
pub(crate) fn groups(graph: &Graph, tags: &[TagId]) -> Vec<Group> {
    let access = |tag: TagId| graph.tag(tag).ok().map(|tag| tag.access);
    let groups = tags.chunk_by(|&a, &b| access(a) == access(b)).map(|tags| {
        let name = access(tags[0]).map(|ty| Names::of_graph(graph).ty(ty));
        Group { name: name.unwrap_or_else(|| "malformed".to_owned()), rows: tags.len() }
    });
    groups.collect()
}

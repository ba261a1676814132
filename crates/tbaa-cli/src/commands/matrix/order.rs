//! Orders the rows of a matrix so that tags with similar answers are neighbours.
//!
//! LLVM follows one path from a base type to a root. So tags form a forest, where a tag may alias
//! its ancestors and descendants. In preorder, a tag and its descendants form a block of rows.

use tbaa::{Graph, TagId};
use tbaa_ir::Names;

use crate::walk::{WalkStep, walk};

/// The largest number of types in a sort key.
const PLACES: usize = 64;

/// Neighbouring rows whose tags have the same access type.
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) rows: usize,
}

/// Returns the tags' indices in preorder: sorted by [`key`].
pub(crate) fn preorder(graph: &Graph, tags: &[TagId]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..tags.len()).collect();
    order.sort_by_cached_key(|&at| key(graph, tags[at]));
    order
}

/// Returns the key to sort by: types with offsets from the root down. Malformed tags come last.
fn key(graph: &Graph, tag: TagId) -> (bool, Vec<(bool, usize, u64)>) {
    let Ok(tag) = graph.tag(tag) else { return (true, Vec::new()) };
    let above = |place: &WalkStep| (true, place.ty.node().index(), place.offset);
    let place = |place: &WalkStep| (false, place.ty.node().index(), place.offset);
    let mut key: Vec<_> = walk(graph, tag.access, 0).iter().rev().map(above).collect();
    if tag.base != tag.access {
        let way = walk(graph, tag.base, tag.offset);
        let meets = way.iter().position(|place| place.ty == tag.access && place.offset == 0);
        // LLVM's path enters only one member of a union, so it may miss the access type.
        key.extend(way[..meets.unwrap_or(1)].iter().rev().map(place));
    }
    key.truncate(PLACES);
    (false, key)
}

/// Groups neighbouring tags that have the same access type. `tags` must be in [`preorder`].
pub(crate) fn groups(graph: &Graph, tags: &[TagId]) -> Vec<Group> {
    let access = |tag: TagId| graph.tag(tag).ok().map(|tag| tag.access);
    let groups = tags.chunk_by(|&a, &b| access(a) == access(b)).map(|tags| {
        let name = access(tags[0]).map(|ty| Names::of_graph(graph).ty(ty));
        Group { name: name.unwrap_or_else(|| "malformed".to_owned()), rows: tags.len() }
    });
    groups.collect()
}

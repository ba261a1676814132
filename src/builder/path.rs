//! Finds out whether a tag's path exists.

use crate::graph::{Format, Graph, NodeId, Shape, TypeId, TypeKind};
use crate::table::HashSet;

/// The most places that are tried. Without sizes, nested fields at many offsets can lead to one
/// place in exponentially many ways.
pub(super) const LIMIT: usize = 1 << 16;

/// Returns whether some path from `base` ends at `access` at `offset` bytes:
/// through any member of a union, and with an array's element index either
/// folded into the offset or left out of it. `None` beyond [`LIMIT`].
pub(super) fn exists(graph: &Graph, base: TypeId, access: TypeId, offset: u64) -> Option<bool> {
    // The path that LLVM would follow is nearly always the path meant.
    if last_fields(graph, base, access, offset) {
        return Some(true);
    }
    let mut seen: HashSet<(NodeId, u64)> = HashSet::new();
    let mut work = vec![(base, offset)];
    while let Some((ty, rest)) = work.pop() {
        if ty == access && rest == 0 {
            return Some(true);
        }
        if !seen.insert((ty.0, rest)) {
            continue;
        }
        if seen.len() > LIMIT {
            return None;
        }
        let node = graph.ty(ty);
        // A path that ends at a scalar also ends at its ancestors, in the old format.
        if node.format() == Format::Old && node.kind() == TypeKind::Scalar {
            work.extend(node.parent().map(|parent| (parent, rest)));
        }
        for field in node.fields() {
            let Some(inside) = rest.checked_sub(field.offset) else { continue };
            // Without an extent, any depth into the field may be meant.
            if field.extent.is_some_and(|extent| extent != 0 && inside >= extent) {
                continue;
            }
            work.push((field.ty, inside));
            let element = graph.ty(field.ty).size().filter(|_| field.extent.is_some()).unwrap_or(0);
            if element != 0 && inside >= element {
                work.push((field.ty, inside % element));
            }
        }
    }
    Some(false)
}

/// Follows the last field that does not start after the offset, as LLVM does.
fn last_fields(graph: &Graph, base: TypeId, access: TypeId, mut rest: u64) -> bool {
    let mut ty = base.0;
    // A type in a text may contain itself, so the walk is bounded.
    for _ in 0..=graph.node_count() {
        if ty == access.0 && rest == 0 {
            return true;
        }
        let shape = Shape::of(graph, ty);
        // A path in the size-aware format ends at a scalar, not at its parents.
        let goes_on = shape.format == Format::Old || shape.fields().len() > 0;
        match shape.step(graph, ty, &mut rest).filter(|_| goes_on) {
            Some(next) => ty = next,
            None => return false,
        }
    }
    false
}

//! Checks that a tag's base type has the access type at the tag's offset.

use crate::graph::{Format, Graph, NodeId, Shape, TypeId, TypeKind};
use crate::table::HashSet;

/// The largest number of pairs (type, offset) that `exists` tries. Without sizes, exponentially
/// many paths through nested fields can lead to one offset.
pub(super) const LIMIT: usize = 1 << 16;

/// Returns whether a path from `base` ends at `access` at `offset` bytes. The path may use any
/// member of a union, and any element of an array. Returns `None` if [`LIMIT`] is exceeded.
pub(super) fn exists(graph: &Graph, base: TypeId, access: TypeId, offset: u64) -> Option<bool> {
    // In most cases, the path that LLVM would follow ends at `access`.
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
        // An old-format path that ends at a scalar also ends at the scalar's ancestors.
        if node.format() == Format::Old && node.kind() == TypeKind::Scalar {
            work.extend(node.parent().map(|parent| (parent, rest)));
        }
        for field in node.fields() {
            let Some(inside) = rest.checked_sub(field.offset) else { continue };
            // A field without an extent, or with extent 0, may contain any later offset.
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

/// Returns whether LLVM's path from `base` ends at `access`. LLVM follows each type's last field
/// that starts at or before the offset.
fn last_fields(graph: &Graph, base: TypeId, access: TypeId, mut rest: u64) -> bool {
    let mut ty = base.0;
    // A type that was read from text may contain itself, so this loop needs a limit.
    for _ in 0..=graph.node_count() {
        if ty == access.0 && rest == 0 {
            return true;
        }
        let shape = Shape::of(graph, ty);
        // In the size-aware format, a path does not go on to a scalar's parent.
        let goes_on = shape.format == Format::Old || shape.fields().len() > 0;
        match shape.step(graph, ty, &mut rest).filter(|_| goes_on) {
            Some(next) => ty = next,
            None => return false,
        }
    }
    false
}

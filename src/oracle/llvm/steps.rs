//! The steps of LLVM's algorithm through the DAG of types, and the cases in which LLVM crashes.

use crate::graph::{Format, Graph, NodeId, Operand, Shape};
use crate::table::HashMap;

/// LLVM would read a missing operand, recurse without end, or stop with a fatal error.
#[derive(Debug)]
pub(super) struct Crash;

/// Returns the type of the last field of `ty` that begins at or before `offset`, and makes `offset`
/// relative to that field. For an old-format scalar, returns its parent and leaves `offset` as it
/// is. Returns `None` for a root or a size-aware scalar.
///
/// LLVM: `TBAAStructTypeNode::getField`.
pub(super) fn step(graph: &Graph, ty: NodeId, offset: &mut u64) -> Result<Option<NodeId>, Crash> {
    let shape = Shape::of(graph, ty);
    match shape.format {
        Format::Old if shape.is_root() => return Ok(None),
        Format::Old if shape.len == 2 => return Ok(shape.parent(graph, ty)),
        Format::Old => {}
        Format::New if shape.len < 6 => return Ok(None),
        Format::New => {}
    }
    // The verifier rejects an offset before the first field.
    let (at, start) = shape.field_at(graph, ty, *offset).ok_or(Crash)?;
    *offset -= start;
    Ok(graph.operand(ty, at).and_then(Operand::node))
}

/// Returns the lowest common ancestor of two types, or `None` if their roots differ.
///
/// LLVM: `getLeastCommonType`.
pub(super) fn least_common_type(
    graph: &Graph,
    a: NodeId,
    b: NodeId,
) -> Result<Option<NodeId>, Crash> {
    let parent = |ty| Shape::of(graph, ty).parent(graph, ty);
    let height = |ty| {
        // A chain of parents with more types than the graph has nodes contains a cycle.
        let above = std::iter::successors(Some(ty), |&ty| parent(ty));
        let height = above.take(graph.node_count() + 1).count();
        if height > graph.node_count() { Err(Crash) } else { Ok(height) }
    };
    let (mut a, mut b) = (a, b);
    if a == b {
        return Ok(Some(a));
    }
    let (of_a, of_b) = (height(a)?, height(b)?);
    for _ in of_b..of_a {
        a = parent(a).ok_or(Crash)?;
    }
    for _ in of_a..of_b {
        b = parent(b).ok_or(Crash)?;
    }
    while a != b {
        match (parent(a), parent(b)) {
            (Some(up_a), Some(up_b)) => (a, b) = (up_a, up_b),
            _ => return Ok(None),
        }
    }
    Ok(Some(a))
}

/// Returns whether `wanted` is the type of a field of `ty`, or of a field inside such a field.
///
/// LLVM's `hasField` visits a type once for every path that leads to it, and does not detect a type
/// that contains itself.
pub(super) fn has_field(graph: &Graph, ty: NodeId, wanted: NodeId) -> Result<bool, Crash> {
    // For each type that was visited: whether all its fields have been visited too.
    let mut done = HashMap::from([(ty, false)]);
    let mut open = vec![(ty, fields(graph, ty)?.into_iter())];
    while let Some((node, rest)) = open.last_mut() {
        let Some(field) = rest.next() else {
            done.insert(*node, true);
            open.pop();
            continue;
        };
        match done.get(&field) {
            _ if field == wanted => return Ok(true),
            Some(true) => {}
            Some(false) => return Err(Crash),
            None => {
                done.insert(field, false);
                open.push((field, fields(graph, field)?.into_iter()));
            }
        }
    }
    Ok(false)
}

/// Returns the fields' types. LLVM: `TBAAStructTypeNode::getNumFields` and `getFieldType`.
fn fields(graph: &Graph, ty: NodeId) -> Result<Vec<NodeId>, Crash> {
    let shape = Shape::of(graph, ty);
    // LLVM subtracts without a check for underflow.
    let operands = shape.len.checked_sub(shape.first_field()).ok_or(Crash)?;
    (0..operands / shape.stride())
        .map(|field| graph.operand(ty, shape.field(field)).and_then(Operand::node).ok_or(Crash))
        .collect()
}

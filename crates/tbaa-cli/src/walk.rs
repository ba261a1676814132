//! Paths in the type DAG as commands show them, with names and arrays.

use std::collections::{HashMap, HashSet};

use tbaa::explain::PathStep;
use tbaa::{Field, Format, Graph, Tag, TypeId, TypeKind, TypeNode};
use tbaa_ir::Names;

use crate::printable::printable;

/// The next step of a path from a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    Field(usize),
    Parent,
    End,
}

/// A type on a path, and the next step from there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WalkStep {
    pub(crate) ty: TypeId,
    /// The offset within the type, in bytes.
    pub(crate) offset: u64,
    pub(crate) next: Next,
}

/// The largest number of states (type and offset) that the search for all paths visits.
const STATES: usize = 1 << 16;

/// Returns the parent that a node names. Old-format aggregates name none.
pub(crate) fn named_parent(node: TypeNode<'_>) -> Option<TypeId> {
    match node.kind() {
        TypeKind::Scalar => node.parent(),
        TypeKind::Aggregate if node.format() == Format::New => node.parent(),
        _ => None,
    }
}

/// Returns an array field's stride and, if bounded, its number of elements; `None` if no array.
pub(crate) fn elements(graph: &Graph, field: &Field) -> Option<(u64, Option<u64>)> {
    let size = graph.ty(field.ty).size().filter(|&size| size != 0)?;
    match field.extent? {
        0 | u64::MAX => Some((size, None)),
        extent if extent > size => Some((size, Some(extent / size))),
        _ => None,
    }
}

/// Returns `[4]` for an array of four elements, `[]` for an unbounded array, else an empty text.
pub(crate) fn brackets(count: Option<Option<u64>>) -> String {
    match count {
        None => String::new(),
        Some(None) => "[]".to_owned(),
        Some(Some(count)) => format!("[{count}]"),
    }
}

pub(crate) fn type_name(names: &Names<'_>, ty: TypeId) -> String {
    printable(names.ty(ty))
}

/// Returns the types that LLVM visits from a type at an offset. From an aggregate, LLVM goes into
/// the last field that starts at or before the offset, and from a scalar to its parent. A cyclic
/// path is cut after one type more than there are nodes.
pub(crate) fn walk(graph: &Graph, base: TypeId, offset: u64) -> Vec<WalkStep> {
    let (mut places, mut at) = (Vec::new(), Some((base, offset)));
    while let Some((ty, offset)) = at
        && places.len() <= graph.node_count()
    {
        let step = step(graph, ty, offset);
        places.push(WalkStep { ty, offset, next: step.map_or(Next::End, |step| step.0) });
        at = step.map(|step| step.1);
    }
    places
}

fn step(graph: &Graph, ty: TypeId, offset: u64) -> Option<(Next, (TypeId, u64))> {
    let node = graph.ty(ty);
    match node.kind() {
        TypeKind::Scalar => Some((Next::Parent, (node.parent()?, 0))),
        TypeKind::Aggregate => {
            let fields = node.fields().enumerate();
            let (at, field) = fields.take_while(|(_, field)| field.offset <= offset).last()?;
            Some((Next::Field(at), (field.ty, offset - field.offset)))
        }
        _ => None,
    }
}

/// Returns the types on the path that starts at the type `base` and takes an explanation's `steps`.
pub(crate) fn follow(graph: &Graph, base: TypeId, steps: &[PathStep]) -> Vec<WalkStep> {
    let (mut places, mut ty) = (Vec::new(), base);
    for step in steps {
        let node = graph.ty(ty);
        // A step from a scalar leads to its parent.
        let field = node.fields().nth(step.field).filter(|_| node.kind() != TypeKind::Scalar);
        let (next, into) = match (field, node.parent()) {
            (Some(field), _) => (Next::Field(step.field), field.ty),
            (None, Some(parent)) => (Next::Parent, parent),
            (None, None) => break,
        };
        places.push(WalkStep { ty, offset: step.offset, next });
        ty = into;
    }
    places.push(WalkStep { ty, offset: 0, next: Next::End });
    places
}

/// Returns the steps of all paths from a tag's base to its access type; none above [`STATES`].
pub(crate) fn all_paths(graph: &Graph, tag: &Tag) -> Vec<WalkStep> {
    let start = (tag.base, tag.offset);
    let (mut seen, mut queue) = (HashSet::from([start]), vec![start]);
    let mut into: HashMap<(TypeId, u64), Vec<WalkStep>> = HashMap::new();
    let mut at = 0;
    while let Some(&(ty, offset)) = queue.get(at) {
        at += 1;
        if graph.ty(ty).kind() != TypeKind::Aggregate || (ty, offset) == (tag.access, 0) {
            continue;
        }
        for (position, field) in graph.ty(ty).fields().enumerate() {
            let Some(rest) = offset.checked_sub(field.offset) else { continue };
            let place = WalkStep { ty, offset, next: Next::Field(position) };
            into.entry((field.ty, rest)).or_default().push(place);
            if seen.insert((field.ty, rest)) {
                queue.push((field.ty, rest));
            }
        }
        if queue.len() > STATES {
            return Vec::new();
        }
    }
    // Go back from the access type along the steps that led there.
    let end = (tag.access, 0);
    let mut places = Vec::new();
    let (mut seen, mut queue) = (HashSet::from([end]), vec![end]);
    while let Some(state) = queue.pop() {
        for &place in into.get(&state).into_iter().flatten() {
            places.push(place);
            if seen.insert((place.ty, place.offset)) {
                queue.push((place.ty, place.offset));
            }
        }
    }
    if !places.is_empty() || start == end {
        places.push(WalkStep { ty: tag.access, offset: 0, next: Next::End });
    }
    places
}

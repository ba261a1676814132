//! The type DAG as commands show it: names, arrays, and the places that a tag's path visits.

use std::collections::{HashMap, HashSet};

use tbaa::explain::PathStep;
use tbaa::{Field, Format, Graph, Tag, TypeId, TypeKind, TypeNode};
use tbaa_ir::Names;

use crate::printable::printable;

/// The next step of a path from a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// Into a field, by its position.
    Field(usize),
    /// To the parent.
    Parent,
    /// Not at all.
    End,
}

/// A type on a path, and the way from there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WalkStep {
    pub(crate) ty: TypeId,
    /// Bytes into the type.
    pub(crate) offset: u64,
    pub(crate) next: Next,
}

/// States that the search for all paths visits at most.
const STATES: usize = 1 << 16;

/// Returns the parent that a node names; an old-format aggregate names none.
pub(crate) fn named_parent(node: TypeNode<'_>) -> Option<TypeId> {
    match node.kind() {
        TypeKind::Scalar => node.parent(),
        TypeKind::Aggregate if node.format() == Format::New => node.parent(),
        _ => None,
    }
}

/// Returns an array field's bytes from element to element, and their number if it ends; `None` of no array.
pub(crate) fn elements(graph: &Graph, field: &Field) -> Option<(u64, Option<u64>)> {
    let size = graph.ty(field.ty).size().filter(|&size| size != 0)?;
    match field.extent? {
        0 | u64::MAX => Some((size, None)),
        extent if extent > size => Some((size, Some(extent / size))),
        _ => None,
    }
}

/// Returns `[4]` behind an array of four elements, `[]` behind one without an end.
pub(crate) fn brackets(count: Option<Option<u64>>) -> String {
    match count {
        None => String::new(),
        Some(None) => "[]".to_owned(),
        Some(Some(count)) => format!("[{count}]"),
    }
}

/// Returns what a type is called, fit to be printed.
pub(crate) fn type_name(names: &Names<'_>, ty: TypeId) -> String {
    printable(names.ty(ty))
}

/// Returns the places that LLVM visits from a type at an offset: each time into the last field that
/// does not start after the offset, and from a scalar to its parents. A path that comes back to
/// where it was is cut after as many places as there are nodes.
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

/// Returns the places of a path that an explanation gives, from the base type that it starts from.
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

/// Returns the places of all paths from a tag's base to its access, through any union member; none if too many.
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
    // Back from the access, along what led there.
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

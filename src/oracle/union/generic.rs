//! The most generic tag of two.

use super::access::Resolved;
use super::definition::UnionDefinition;
use super::types::{TypeIndex, Types};
use crate::graph::{Format, Graph, Tag, TagId, TypeId};
use crate::table::HashSet;

/// Returns a tag that may alias whatever `a` or `b` may alias, now and in
/// whatever types are added later; `None` where the engine finds none.
///
/// Tags of one path give that path, with a size that covers both. Others
/// give a whole tag of a common ancestor, as in LLVM, but the lowest one
/// that also covers all else inside the two base types: where a union
/// brings in a type from elsewhere, an access to that may alias too.
pub(super) fn most_generic(
    definition: &UnionDefinition<'_>,
    graph: &Graph,
    (a, b): (TagId, TagId),
) -> Option<Tag> {
    let types = definition.types;
    let (of_a, of_b) =
        (Resolved::new(types, graph, a.into()).ok()?, Resolved::new(types, graph, b.into()).ok()?);
    let (tag_a, tag_b) = (graph.tag(a).ok()?, graph.tag(b).ok()?);
    if a == b {
        return Some(tag_a);
    }
    // A malformed tag aliases everything, and so must its replacement.
    let (bytes_a, bytes_b) = (definition.denotes(&of_a).ok()??, definition.denotes(&of_b).ok()??);
    let size = (tag_a.format == Format::New).then(|| covering(of_a.size, of_b.size));
    let path = |access: &Resolved| (access.base, access.access, access.offset);
    // A tag without a byte aliases itself, but no other tag of its path.
    if path(&of_a) == path(&of_b) && bytes_a && bytes_b {
        return Some(Tag { size, immutable: false, ..tag_a });
    }
    if tag_a.format != tag_b.format {
        return None;
    }
    let common = types
        .ancestors(of_a.access)
        .filter(|&upper| types.is_ancestor(upper, of_b.access))
        .find(|&upper| {
            is_taggable(types, upper)
                && [of_a.base, of_b.base].iter().all(|&base| covers_all(types, upper, base))
        })?;
    let base = TypeId(graph.node_at(types.get(common).node));
    Some(Tag {
        base,
        access: base,
        offset: 0,
        // From an aggregate's parent the bytes may lie anywhere.
        size: size.map(|_| covering(Some(0), None)),
        immutable: false,
        format: tag_a.format,
    })
}

/// Whether a whole tag of the type is well formed.
fn is_taggable(types: &Types, ty: TypeIndex) -> bool {
    let ty = types.get(ty);
    match ty.format {
        None => false,
        Some(Format::Old) => ty.scalar,
        Some(Format::New) => true,
    }
}

/// Whether each type inside `base` that may be accessed has `upper` among
/// its ancestors or, in the old format, somewhere below it: an old
/// aggregate has no parent, but a path that ends at it goes on.
fn covers_all(types: &Types, upper: TypeIndex, base: TypeIndex) -> bool {
    let new = types.get(upper).format == Some(Format::New);
    let mut seen = HashSet::from([base]);
    let mut work = vec![base];
    while let Some(ty) = work.pop() {
        if types.is_ancestor(upper, ty) && !new {
            // A scalar's fields are its ancestors.
            continue;
        }
        let aggregate = !types.get(ty).scalar && types.get(ty).format.is_some();
        if new && !types.is_ancestor(upper, ty) || !new && !aggregate {
            return false;
        }
        for field in types.fields(ty) {
            if seen.insert(field.ty) {
                work.push(field.ty);
            }
        }
    }
    true
}

/// A size that covers two: the larger, or as much as can be said where one is
/// unknown, for an unknown size ends at a field's slot and a known one may not.
fn covering(a: Option<u64>, b: Option<u64>) -> u64 {
    match (a, b) {
        (Some(a), Some(b)) => a.max(b),
        (None, None) => 0,
        _ => u64::MAX - 1,
    }
}

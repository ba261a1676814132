//! The most generic tag of two: a tag for an access that replaces two others.

use super::access::Resolved;
use crate::extent::touched;
use crate::graph::{Format, Graph, Tag, TagId, TypeId};
use crate::oracle::types::{TypeIndex, Types};
use crate::table::HashSet;

/// Returns a tag that may alias everything that `a` or `b` may alias, even accesses of types added
/// later. Returns `None` if it finds no such tag.
///
/// If the tags have the same path and touch bytes, the result has this path and a size that covers
/// both sizes. Otherwise the result is a tag for a whole common ancestor of the access types, as in
/// LLVM. But here the ancestor must also cover all types inside the base types (`covers_all`),
/// because members of a union may alias.
pub(super) fn most_generic(
    types: &Types,
    graph: &Graph,
    [(a, of_a), (b, of_b)]: [(TagId, Resolved); 2],
) -> Option<Tag> {
    let (tag_a, tag_b) = (graph.tag(a).ok()?, graph.tag(b).ok()?);
    if a == b {
        return Some(tag_a);
    }
    if of_a.leaves(types) || of_b.leaves(types) {
        return None;
    }
    let touched =
        |access: &Resolved| touched(access.size, access.offset, types.get(access.base).far);
    let touches = |access: &Resolved| tag_a.format == Format::Old || touched(access) > 0;
    let new = tag_a.format == Format::New;
    let size = of_a.size.zip(of_b.size).map(|(a, b)| if a.covers(b) { a } else { b });
    let path = |access: &Resolved| (access.base, access.access, access.offset);
    // A tag that touches no byte aliases itself, but no other tag of the same path.
    if path(&of_a) == path(&of_b) && touches(&of_a) && touches(&of_b) {
        return Some(Tag { size, immutable: false, ..tag_a });
    }
    if tag_a.format != tag_b.format {
        return None;
    }
    let covers = |upper: TypeIndex| {
        let ty = types.get(upper);
        // For any other type, the tag of a whole object is not well formed.
        (ty.scalar || ty.format == Some(Format::New))
            && [of_a.base, of_b.base].iter().all(|&base| covers_all(types, upper, base))
    };
    let mut above = types.ancestors(of_a.access);
    let common = above.find(|&up| types.is_ancestor(up, of_b.access) && covers(up))?;
    let base = TypeId(graph.node_at(types.get(common).node));
    Some(Tag {
        base,
        access: base,
        offset: 0,
        // If the ancestor is smaller than this size, the tag may alias everything.
        size: new.then(|| {
            let most = touched(&of_a).max(touched(&of_b)).min(u128::from(u64::MAX) - 1);
            (most as u64).into()
        }),
        immutable: false,
        format: tag_a.format,
    })
}

/// Returns whether `upper` is an ancestor of every type inside `base` that an access may have. In
/// the old format, aggregates have no parents. For them, it is enough that the types inside are
/// descendants of `upper`, because each path continues to those types.
fn covers_all(types: &Types, upper: TypeIndex, base: TypeIndex) -> bool {
    let new = types.get(upper).format == Some(Format::New);
    let mut seen = HashSet::from([base]);
    let mut work = vec![base];
    while let Some(ty) = work.pop() {
        if types.is_ancestor(upper, ty) && !new {
            // In the old format, a scalar's only field is its parent.
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

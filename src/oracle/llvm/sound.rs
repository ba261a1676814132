//! The definition on types that are known to be sound, where LLVM neither crashes nor visits
//! a type twice: on these it is four conditions in either order of the tags.

use crate::graph::{Graph, TagId, TagParts, TypeId};
use crate::oracle::clause::Clause;
use crate::oracle::index::Index;
use crate::oracle::types::{TypeIndex, Types};

/// Decides on two tags; `None` if a base type may not be sound, or the roots differ.
pub(super) fn decide(graph: &Graph, index: &Index, (a, b): (TagId, TagId)) -> Option<Clause> {
    let types = &index.types;
    let (x, y) = (SizedTag::of(graph, index, a)?, SizedTag::of(graph, index, b)?);
    if types.get(x.access).root != types.get(y.access).root {
        return None;
    }
    let may = a == b || x.touches(types, &y) || y.touches(types, &x);
    Some(if may { Clause::Meets } else { Clause::Unrelated })
}

/// Where a size-aware tag accesses memory.
struct SizedTag {
    base: TypeIndex,
    access: TypeIndex,
    offset: u64,
}

impl SizedTag {
    /// Reads a tag; `None` if its base type may not be sound.
    fn of(graph: &Graph, index: &Index, tag: TagId) -> Option<SizedTag> {
        let base = index.base(tag.index)?;
        let parts = TagParts::of(graph, graph.tag_node(tag)).ok()?;
        let access = index.types.index(TypeId(parts.access))?;
        Some(SizedTag { base, access, offset: parts.offset.value })
    }

    fn is_whole(&self) -> bool {
        self.base == self.access
    }

    /// Whether LLVM answers `MayAlias` when it walks from this tag's base type.
    ///
    /// LLVM: `mayBeAccessToSubobjectOf`.
    fn touches(&self, types: &Types, other: &SizedTag) -> bool {
        if self.is_whole() && types.is_ancestor(self.access, other.access) {
            return true;
        }
        if !types.may_hold(self.base, other.base) {
            return false;
        }
        let (mut ty, mut offset) = (self.base, self.offset);
        while ty != other.base && ty != self.access {
            let Some(at) = types.field_at(ty, offset) else { return false };
            let field = &types.fields(ty)[at];
            (ty, offset) = (field.ty, offset - field.offset);
        }
        match ty == other.base {
            true => offset == other.offset || ty == self.access || other.is_whole(),
            false => types.holds(ty, other.base),
        }
    }
}

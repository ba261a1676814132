//! A faster form of rule `llvm` for *sound* types, on which LLVM neither crashes nor visits a type
//! twice. A *regular* tag accesses the scalar that the walk from its base type leads to.

use super::tables::Llvm;
use crate::graph::TagId;
use crate::oracle::clause::Clause;
use crate::oracle::index::{Index, Role};
use crate::oracle::types::{TypeIndex, Types};

/// Decides a query about two tags, at least one of which is not regular. Returns `None` if a base
/// type may be unsound or the roots differ, and else `Meets` for *may* and `Unrelated` for *no*.
pub(super) fn clause(tables: &Llvm, index: &Index, (a, b): (TagId, TagId)) -> Option<Clause> {
    let types = &index.types;
    let (root_a, x) = SizedTag::of(tables, index, a)?;
    let (root_b, y) = SizedTag::of(tables, index, b)?;
    if root_a != root_b || x.access.or(y.access).is_none() {
        return None;
    }
    let may = a == b || x.touches(types, &y) || y.touches(types, &x);
    Some(if may { Clause::Meets } else { Clause::Unrelated })
}

/// The type and offset at which a size-aware tag accesses memory.
struct SizedTag {
    base: TypeIndex,
    /// The accessed type, if it is the base type or an aggregate. `None` for other regular tags,
    /// which access the scalar at the end of the walk from the base type.
    access: Option<TypeIndex>,
    offset: u64,
}

impl SizedTag {
    /// Reads a tag and its root. Returns `None` if its base type may not be sound.
    fn of(tables: &Llvm, index: &Index, tag: TagId) -> Option<(u32, SizedTag)> {
        let base = index.base(tag.index)?;
        match index.role(tag.index) {
            Role::Rejected => None,
            Role::Regular(root, cursor) => {
                let access = index.types.get(base).scalar.then_some(base);
                Some((root, SizedTag { base, access, offset: index.walks.offset(cursor) }))
            }
            Role::Other(root, number) => {
                let (access, offset) = tables.aggregates[number as usize]?;
                Some((root, SizedTag { base, access: Some(access), offset }))
            }
        }
    }

    fn is_whole(&self) -> bool {
        self.access == Some(self.base)
    }

    /// Returns whether LLVM answers `MayAlias` when it starts at this tag's base type.
    ///
    /// LLVM: `mayBeAccessToSubobjectOf`.
    fn touches(&self, types: &Types, other: &SizedTag) -> bool {
        // If `other.access` is `None`, `other` accesses a scalar, and this tag is not regular: it
        // accesses an aggregate, which is not an ancestor of any scalar.
        let below = other.access.is_some_and(|access| types.is_ancestor(self.base, access));
        if self.is_whole() && below {
            return true;
        }
        if !types.may_hold(self.base, other.base) {
            return false;
        }
        let (mut ty, mut offset) = (self.base, self.offset);
        while ty != other.base && Some(ty) != self.access {
            let Some(at) = types.field_at(ty, offset) else { return false };
            let field = &types.fields(ty)[at];
            (ty, offset) = (field.ty, offset - field.offset);
        }
        let accessed = self.access.map_or(types.get(ty).scalar, |access| ty == access);
        match ty == other.base {
            true => offset == other.offset || accessed || other.is_whole(),
            false => types.holds(ty, other.base),
        }
    }
}

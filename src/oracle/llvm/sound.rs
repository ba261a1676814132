//! A faster form of rule `llvm` for *sound* types: well formed, of one format and not recursive. A
//! tag's *walk* leads from its base type through the fields at its offset to a scalar. A *regular*
//! tag accesses that scalar.

use super::tables::Llvm;
use crate::graph::TagId;
use crate::oracle::clause::Clause;
use crate::oracle::index::{Index, Role};
use crate::oracle::types::{TypeIndex, Types};

/// Decides a query about two tags, at least one of which is not regular. Returns `Meets` for
/// `MayAlias`, `Unrelated` for `NoAlias`, and `None` if this form does not decide.
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
    /// The accessed type, if it is the base type or an aggregate. If `None`, the tag accesses the
    /// scalar at the end of its walk.
    access: Option<TypeIndex>,
    offset: u64,
}

impl SizedTag {
    /// Reads a tag and its root. Returns `None` if the index does not have the tag's base type.
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

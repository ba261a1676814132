//! Determines the base type, access type, offset and size of the tag for a path.

use super::{AccessInfo, Policy, TaggedTypes};
use crate::declare::DeclId;
use crate::declare::declarations::DeclKind;
use crate::declare::path::{ResolvedPath, Step};
use crate::extent::Size;

impl TaggedTypes {
    pub(super) fn access(&self, resolved: &ResolvedPath) -> AccessInfo {
        let access = match self.policy {
            Policy::Clang => self.clang_access(resolved),
            Policy::Rfc => self.rfc_access(resolved),
        };
        if let AccessInfo::Untagged { .. } = access {
            return access;
        }
        let ordinary = matches!(access, AccessInfo::Ordinary { .. });
        let reason = match self.types.kind(resolved.end()) {
            DeclKind::Void | DeclKind::Function => "it has no value; give the path of what has one",
            DeclKind::Record(record) if !record.defined => "it is not defined: define it first",
            DeclKind::Record(record)
                if ordinary && self.policy == Policy::Clang && self.has_node(record) =>
            {
                "the old format has no tag of a whole struct; use policy rfc, or the copy's \
                 tbaa.struct"
            }
            DeclKind::Complex { .. } if self.policy != Policy::Rfc => {
                "clang tags the parts of a complex number, not the whole; index it with [0] or [1]"
            }
            _ => return access,
        };
        AccessInfo::Untagged { reason }
    }

    /// Determines the access under policy `clang`. clang: `EmitLValueForField` and others.
    fn clang_access(&self, resolved: &ResolvedPath) -> AccessInfo {
        let mut access = self.bare(resolved.start);
        let mut container = resolved.start;
        for &(step, ty) in &resolved.steps {
            access = match (step, access) {
                (Step::Follow { .. }, _) => self.bare(ty),
                (_, AccessInfo::Untagged { .. }) => access,
                (Step::Field { record, index }, _) => self.clang_field(access, record, index),
                (_, AccessInfo::MayAlias { .. }) => access,
                (Step::Lane { .. }, AccessInfo::Ordinary { .. }) => {
                    match self.types.kind(container) {
                        // clang loads the whole vector, and extracts the lane.
                        DeclKind::Vector { .. } => access,
                        _ => self.bare(ty),
                    }
                }
                (Step::Element { .. }, AccessInfo::Ordinary { .. }) => self.bare(ty),
            };
            container = ty;
        }
        match (access, self.types.kind(resolved.end())) {
            // A copy of a whole record has the record as its base type, even inside another record.
            (AccessInfo::Ordinary { .. } | AccessInfo::MayAlias { .. }, DeclKind::Record(_)) => {
                self.bare(resolved.end())
            }
            _ => access,
        }
    }

    /// Returns an access to a whole `ty`: the base type is the access type.
    fn bare(&self, ty: DeclId) -> AccessInfo {
        let size = Size::Bytes(self.types.size_of(ty).unwrap_or(0));
        match self.types.kind(ty) {
            DeclKind::Record(record) if record.may_alias => {
                AccessInfo::MayAlias { size: Size::Unknown }
            }
            _ => AccessInfo::Ordinary { base: None, ty, offset: 0, size },
        }
    }

    fn clang_field(&self, access: AccessInfo, record: DeclId, index: u32) -> AccessInfo {
        const BITS: &str = "clang gives bit-fields none: leave the access without one, \
                            or use policy rfc";
        let Some(of) = self.types.record(record) else { return access };
        let field = &of.fields[index as usize];
        if field.bits.is_some() {
            return AccessInfo::Untagged { reason: BITS };
        }
        let vector = matches!(self.types.kind(field.ty), DeclKind::Vector { .. });
        let AccessInfo::Ordinary { base, offset, .. } = access else {
            return AccessInfo::MayAlias { size: Size::Unknown };
        };
        if field.base {
            // clang casts to the base class, so the base class is the new base type.
            return self.bare(field.ty);
        }
        if of.may_alias || of.union || vector {
            return AccessInfo::MayAlias { size: Size::Unknown };
        }
        let base = base.or_else(|| self.has_node(of).then_some(record));
        let offset = if base.is_some() { offset.saturating_add(field.offset / 8) } else { 0 };
        let size = Size::Bytes(self.types.size_of(field.ty).unwrap_or(0));
        AccessInfo::Ordinary { base, ty: field.ty, offset, size }
    }

    /// Determines the access under policy `rfc`. The base type is the path's first type, or the
    /// target of the path's last pointer. An array is replaced by its element type.
    fn rfc_access(&self, resolved: &ResolvedPath) -> AccessInfo {
        let mut base = resolved.start;
        let mut ty = resolved.start;
        let (mut offset, mut size) = (0_u64, self.types.extent_of(ty));
        let record = |ty| self.types.record(self.types.innermost(ty));
        let mut may_alias = record(ty).is_some_and(|record| record.may_alias);
        for &(step, next) in &resolved.steps {
            (ty, size) = (next, self.types.extent_of(next));
            match step {
                Step::Follow { .. } => (base, offset, may_alias) = (next, 0, false),
                Step::Field { record, index } => {
                    let Some(record) = self.types.record(record) else { continue };
                    let field = &record.fields[index as usize];
                    let mut at = field.offset / 8;
                    if field.bits.is_some() {
                        // C11: adjacent bit-fields are one memory location.
                        ty = self.types.char();
                        let (start, bytes) = self.types.unit(record, index as usize);
                        (at, size) = (start, Size::Bytes(bytes));
                    }
                    offset = offset.saturating_add(at);
                }
                Step::Element { .. } | Step::Lane { .. } => {}
            }
            may_alias |= record(next).is_some_and(|record| record.may_alias);
        }
        if may_alias {
            return AccessInfo::MayAlias { size };
        }
        let base = Some(base).filter(|&base| {
            base != ty
                && matches!(
                    self.types.kind(self.types.innermost(base)),
                    DeclKind::Record(_) | DeclKind::Vector { .. } | DeclKind::Complex { .. }
                )
        });
        let base = base.map(|base| self.types.innermost(base));
        AccessInfo::Ordinary { base, ty, offset, size }
    }
}

//! Makes `tbaa.struct` nodes, which list the accesses of a copy of a whole type.

use super::{AccessInfo, TaggedTypes};
use crate::declare::declarations::DeclKind;
use crate::declare::{DeclId, DeclareError};
use crate::extent::Size;
use crate::graph::{CopyEntry, CopyId, Graph};

/// The largest number of entries in a `tbaa.struct` node.
const LONGEST: usize = 1 << 16;

impl TaggedTypes {
    /// Returns the `tbaa.struct` node for copies of a type. The old format has no tag for a
    /// whole struct. Returns `None` if the type has a flexible array or over 65,536 entries.
    ///
    /// # Errors
    ///
    /// [`DeclareError::ForeignId`], [`DeclareError::Incomplete`], [`DeclareError::Build`].
    /// clang: `CodeGenTBAA::getTBAAStructInfo`.
    pub fn copy(&mut self, graph: &mut Graph, ty: DeclId) -> Result<Option<CopyId>, DeclareError> {
        self.types.check(ty)?;
        if self.types.size_of(ty).is_none() {
            return Err(self.types.incomplete(ty, "copy"));
        }
        let Some(parts) = self.copied(ty) else { return Ok(None) };
        let mut entries = Vec::with_capacity(parts.len());
        for (offset, size, ty) in parts {
            let access =
                AccessInfo::Ordinary { base: None, ty, offset: 0, size: Size::Bytes(size) };
            if let Some(tag) = self.tag_of(graph, &access, false)? {
                entries.push(CopyEntry { offset, size, tag });
            }
        }
        Ok(Some(graph.builder().struct_copy(&entries)?))
    }

    /// Returns the offset, size and type of each scalar, array, union and bit-field unit in a type,
    /// in order of their offsets. The type is `char` for unions, bit-fields and bytes of may-alias
    /// members. Returns `None` as [`Self::copy`] does. clang: `CodeGenTBAA::CollectFields`.
    fn copied(&self, ty: DeclId) -> Option<Vec<(u64, u64, DeclId)>> {
        let types = &self.types;
        let char = types.char();
        let mut parts = Vec::new();
        let record = |ty| types.record(types.innermost(ty));
        let has_flag = |ty| record(ty).is_some_and(|record| record.may_alias);
        // The types to visit, innermost last: type, offset, index of next member, may-alias flag.
        let mut stack = vec![(ty, 0_u64, 0, has_flag(ty))];
        while let Some((ty, at, next, may_alias)) = stack.pop() {
            let size = types.size_of(ty).unwrap_or(0);
            let record = match types.kind(ty) {
                DeclKind::Record(record) => record,
                _ => {
                    parts.push((at, size, if may_alias { char } else { ty }));
                    continue;
                }
            };
            if record.flexible || parts.len() > LONGEST {
                return None;
            }
            if record.union {
                // clang lists an empty union only if the union is all that is copied.
                parts.extend((size > 0 || stack.is_empty()).then_some((at, size, char)));
                continue;
            }
            let Some(field) = record.fields.get(next) else { continue };
            stack.push((ty, at, next + 1, may_alias));
            let may_alias = may_alias || has_flag(field.ty);
            match field.bits {
                None => stack.push((field.ty, at.saturating_add(field.offset / 8), 0, may_alias)),
                // Bit-fields that share a memory location have one entry.
                Some(1..) if next == 0 || record.fields[next - 1].bits.is_none_or(|b| b == 0) => {
                    let (offset, size) = types.unit(record, next);
                    parts.push((at.saturating_add(offset), size, char));
                }
                Some(_) => {}
            }
        }
        parts.sort_by_key(|&(offset, ..)| offset);
        Some(parts)
    }
}

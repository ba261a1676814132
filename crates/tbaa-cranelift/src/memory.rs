//! The instructions of a function that access memory, as Cranelift's alias analysis sees them.

use std::borrow::Borrow;

use cranelift_codegen::ir::{AliasRegion, Function, Inst, Opcode};
use tbaa::{Access, AccessKind, AliasRule, Graph, Oracle, Size};

use crate::Tags;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) inst: Inst,
    /// The access for queries to the oracle.
    pub(crate) access: Access,
    pub(crate) region: Option<AliasRegion>,
    pub(crate) readonly: bool,
    /// The number of bytes accessed; `None` for a vector of dynamic length.
    pub(crate) width: Option<u64>,
}

impl Memory {
    /// Returns an instruction's access; `None` if the instruction neither loads nor stores, or has
    /// no memory flags. Without a tag or a fixed width, the access may touch any memory.
    pub(crate) fn of<G: Borrow<Graph>>(
        oracle: &Oracle<G>,
        func: &Function,
        tags: &Tags,
        inst: Inst,
    ) -> Option<Memory> {
        let data = &func.dfg.insts[inst];
        let opcode = data.opcode();
        let flags = data.memflags_data(&func.dfg)?;
        let kind = match (opcode.can_load(), opcode.can_store()) {
            (true, true) => AccessKind::Both,
            (true, false) => AccessKind::Read,
            (false, true) => AccessKind::Write,
            // `bitcast` has memory flags for its byte order.
            (false, false) => return None,
        };
        let width = width(func, inst);
        let access = match (tags.get(inst), width) {
            (Some(tag), Some(width)) => sized(oracle, Access::from(tag).with_size(width)),
            _ => Access::default(),
        };
        Some(Memory {
            inst,
            access: access.with_kind(kind),
            region: flags.alias_region(),
            readonly: flags.readonly() && kind == AccessKind::Read,
            width,
        })
    }

    /// Returns the accesses of a function, block after block.
    pub(crate) fn all<G: Borrow<Graph>>(
        oracle: &Oracle<G>,
        func: &Function,
        tags: &Tags,
    ) -> Vec<Memory> {
        let insts = func.layout.blocks().flat_map(|block| func.layout.block_insts(block));
        insts.filter_map(|inst| Memory::of(oracle, func, tags, inst)).collect()
    }

    pub(crate) fn loads(&self) -> bool {
        self.access.kind != AccessKind::Write
    }

    pub(crate) fn stores(&self) -> bool {
        self.access.kind != AccessKind::Read
    }
}

/// Returns an access without its kind, and without its size if the tag's size covers that size. By
/// rule `llvm`, drops any size, and the tag if the tag's size does not cover the access's size.
/// Drops a tag of another graph by every rule.
pub(crate) fn sized<G: Borrow<Graph>>(oracle: &Oracle<G>, access: Access) -> Access {
    let Some(tag) = access.tag.filter(|&tag| oracle.graph().owns_tag(tag)) else {
        return Access::default();
    };
    let own = own_size(oracle, tag.into()).map(Size::Bytes);
    // The sizes that mean an unknown one become [`Size::Unknown`].
    let Some(size) = access.size.map(|size| Size::from(u64::from(size))) else { return tag.into() };
    match (own, oracle.rule(), size) {
        (Some(own), ..) if own.covers(size) => tag.into(),
        (Some(_), AliasRule::Llvm, _) => Access::default(),
        (None, AliasRule::Llvm, _) => tag.into(),
        (.., Size::Bytes(bytes)) => Access::of_bytes(oracle.graph(), tag, bytes),
        (.., Size::Unknown) => Access::from(tag).with_size(size),
    }
}

/// Returns the size in bytes that an access's tag states, if the oracle's graph has the tag.
pub(crate) fn own_size<G: Borrow<Graph>>(oracle: &Oracle<G>, access: Access) -> Option<u64> {
    let tag = access.tag.filter(|&tag| oracle.graph().owns_tag(tag))?;
    oracle.graph().tag(tag).ok()?.size?.bytes()
}

/// Returns the number of bytes that an instruction accesses; `None` if its type has no fixed size.
fn width(func: &Function, inst: Inst) -> Option<u64> {
    match func.dfg.insts[inst].opcode() {
        Opcode::Uload8 | Opcode::Sload8 | Opcode::Istore8 => Some(1),
        Opcode::Uload16 | Opcode::Sload16 | Opcode::Istore16 => Some(2),
        Opcode::Uload32 | Opcode::Sload32 | Opcode::Istore32 => Some(4),
        Opcode::Uload8x8
        | Opcode::Sload8x8
        | Opcode::Uload16x4
        | Opcode::Sload16x4
        | Opcode::Uload32x2
        | Opcode::Sload32x2 => Some(8),
        // Other accesses have the width of their result or, without a result, of the stored value.
        _ => {
            let result = func.dfg.inst_results(inst).first();
            let value = result.or(func.dfg.inst_args(inst).first())?;
            let ty = func.dfg.value_type(*value);
            (!ty.is_dynamic_vector()).then(|| ty.bytes().into())
        }
    }
}

/// Returns whether Cranelift forgets the contents of all regions at an instruction. The
/// source: `has_memory_fence_semantics`, and stores without a region in `LastStores::update` (in
/// `alias_analysis.rs`). Cranelift may forget the contents elsewhere, too, which is harmless.
pub(crate) fn is_fence(func: &Function, inst: Inst) -> bool {
    let data = &func.dfg.insts[inst];
    let opcode = data.opcode();
    let named = matches!(
        opcode,
        Opcode::AtomicRmw
            | Opcode::AtomicCas
            | Opcode::AtomicLoad
            | Opcode::AtomicStore
            | Opcode::Fence
            | Opcode::Debugtrap
            | Opcode::SequencePoint
            | Opcode::Call
            | Opcode::CallIndirect
            | Opcode::TryCall
            | Opcode::TryCallIndirect
    );
    named || (opcode.can_store() && !opcode.can_trap() && data.alias_region(&func.dfg).is_none())
}

//! The rules of `tbaa.struct`.
//!
//! LLVM 22's verifier does not check them (llvm pull request 86709 did, and was taken back because
//! clang's own bit-fields broke it), and its passes read the operands as they are.
//!
//! LLVM: the language reference, "tbaa.struct metadata".

use super::Rule;
use super::types::Fault;
use tbaa::parts::encoding;
use tbaa::{CopyId, Graph, Operand};

/// Finds the faults of a `tbaa.struct` node, in order of the operands. Tags are checked elsewhere.
pub(super) fn faults(graph: &Graph, copy: CopyId) -> Vec<Fault> {
    let node = copy.node();
    let len = graph.operand_count(node);
    let mut faults = Vec::new();
    if !len.is_multiple_of(encoding::COPY_STRIDE) {
        faults.push(Fault { rule: Rule::CopyOperandCount, operand: None });
    }
    let mut report = |rule, operand| faults.push(Fault { rule, operand: Some(operand) });
    // Offset, end, and operand of entries that hold a byte.
    let mut covered: Vec<(u64, u64, usize)> = Vec::new();
    for at in encoding::copy_entries(len) {
        let int = |at| graph.operand(node, at).and_then(Operand::int);
        let (offset, size) = (int(at), int(at + encoding::COPY_SIZE));
        if offset.is_none() {
            report(Rule::CopyOffset, at);
        }
        if size.is_none() {
            report(Rule::CopySize, at + encoding::COPY_SIZE);
        }
        // The other rules of a tag are known to `check`.
        if graph.operand(node, at + encoding::COPY_TAG).and_then(Operand::node).is_none() {
            report(Rule::CopyTag, at + encoding::COPY_TAG);
        }
        if let (Some(offset), Some(size)) = (offset, size)
            && size.value > 0
        {
            covered.push((offset.value, offset.value.saturating_add(size.value), at));
        }
    }
    covered.sort_unstable();
    let mut reach = 0;
    for (offset, end, at) in covered {
        if offset < reach {
            report(Rule::CopyOverlap, at);
        }
        reach = reach.max(end);
    }
    faults
}

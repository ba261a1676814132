//! Finds everything that is wrong with one type node, or with one `tbaa.struct` node.

use super::Rule;
use tbaa::parts::{Shape, encoding};
use tbaa::{CopyId, Format, Graph, NodeId, Operand};

/// A rule that a node breaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fault {
    pub(super) rule: Rule,
    /// The operand that is at fault; `None` for the node as a whole.
    pub(super) operand: Option<usize>,
}

/// Returns the rules that a type node breaks.
pub(crate) fn rules(graph: &Graph, node: NodeId, format: Format) -> Vec<Rule> {
    of_type(graph, node, format).into_iter().map(|fault| fault.rule).collect()
}

/// Finds the faults of a type node on the access path of a tag of `format`. The first fault is the
/// fault that [`Verifier::check`](super::Verifier::check) returns. After a fault in one field, the
/// other fields are checked too. LLVM: `TBAAVerifier::verifyTBAABaseNodeImpl`.
pub(super) fn of_type(graph: &Graph, node: NodeId, format: Format) -> Vec<Fault> {
    let shape = Shape { format, len: graph.operand_count(node) };
    let whole = |rule| vec![Fault { rule, operand: None }];
    let int = |at| graph.operand(node, at).and_then(Operand::int);
    let (name, size) = (shape.name(), shape.size().filter(|&at| int(at).is_none()));
    if shape.len == 2 {
        return if graph.is_old_scalar(node) { Vec::new() } else { whole(Rule::TypeNotScalar) };
    }
    match format {
        _ if !shape.has_whole_fields() => return whole(Rule::TypeOperandCount),
        Format::Old if !matches!(graph.operand(node, name), Some(Operand::String(_))) => {
            return vec![Fault { rule: Rule::TypeName, operand: Some(name) }];
        }
        Format::New if size.is_some() => {
            return vec![Fault { rule: Rule::TypeSize, operand: size }];
        }
        _ => {}
    }
    let mut faults = Vec::new();
    let mut report = |rule, operand| faults.push(Fault { rule, operand: Some(operand) });
    let (mut width, mut previous) = (None, 0);
    for at in shape.fields() {
        if graph.operand(node, at).and_then(Operand::node).is_none() {
            report(Rule::FieldType, at);
            continue;
        }
        let start = shape.offset(at);
        let Some(offset) = int(start) else {
            report(Rule::FieldOffset, start);
            continue;
        };
        if *width.get_or_insert(offset.bits) != offset.bits {
            report(Rule::FieldOffsetWidth, start);
            continue;
        }
        if offset.value < previous {
            report(Rule::FieldOrder, start);
        }
        previous = offset.value;
        if let Some(extent) = shape.extent(at).filter(|&at| int(at).is_none()) {
            report(Rule::FieldSize, extent);
        }
    }
    faults
}

/// Finds the faults of a `tbaa.struct` node: a wrong operand count, faults of single entries in
/// order of the operands, then overlaps in order of the offsets. Any node passes as a tag.
///
/// LLVM 22's verifier does not check these nodes (llvm pull request 86709 did, and was reverted
/// because clang's own bit-fields broke it), and its passes read the operands as they are.
/// LLVM: the language reference, "tbaa.struct metadata".
pub(super) fn of_copy(graph: &Graph, copy: CopyId) -> Vec<Fault> {
    let node = copy.node();
    let len = graph.operand_count(node);
    let mut faults = Vec::new();
    if !len.is_multiple_of(encoding::COPY_STRIDE) {
        faults.push(Fault { rule: Rule::CopyOperandCount, operand: None });
    }
    let mut report = |rule, operand| faults.push(Fault { rule, operand: Some(operand) });
    // The offset, the end and the first operand's index of each entry with at least one byte.
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
        // `Verifier::check` finds the other rules that a tag breaks.
        if graph.operand(node, at + encoding::COPY_TAG).and_then(Operand::node).is_none() {
            report(Rule::CopyTag, at + encoding::COPY_TAG);
        }
        let bytes = offset.zip(size).filter(|(_, size)| size.value > 0);
        covered.extend(
            bytes.map(|(offset, size)| (offset.value, offset.value.saturating_add(size.value), at)),
        );
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

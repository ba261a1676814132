//! Everything that is wrong with one type node.

use super::Rule;
use tbaa::parts::Shape;
use tbaa::{Format, Graph, NodeId, Operand};

/// A rule that a node breaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fault {
    pub(super) rule: Rule,
    /// The operand that is at fault; `None` for the node as a whole.
    pub(super) operand: Option<usize>,
}

/// Returns the rules that a type node breaks.
pub(crate) fn rules(graph: &Graph, node: NodeId, format: Format) -> Vec<Rule> {
    faults(graph, node, format).into_iter().map(|fault| fault.rule).collect()
}

/// Finds the faults of a type node as a base of tags of `format`. The first fault is the one that
/// [`Verifier::check`](super::Verifier::check) gives; after a fault in a field the other fields are
/// checked too. LLVM: `TBAAVerifier::verifyTBAABaseNodeImpl`.
pub(super) fn faults(graph: &Graph, node: NodeId, format: Format) -> Vec<Fault> {
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

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

/// Finds what is wrong with a type node as a base of tags of `format`. The
/// first fault is the one that [`Verifier::check`](super::Verifier::check)
/// gives; after a fault in a field the other fields are looked at too.
///
/// LLVM: `TBAAVerifier::verifyTBAABaseNodeImpl`.
pub(super) fn faults(graph: &Graph, node: NodeId, format: Format) -> Vec<Fault> {
    let shape = Shape { format, len: graph.operand_count(node) };
    let whole = |rule| vec![Fault { rule, operand: None }];
    let int = |at| graph.operand(node, at).and_then(Operand::int);
    if shape.len == 2 {
        return if graph.is_old_scalar(node) { Vec::new() } else { whole(Rule::TypeNotScalar) };
    }
    match format {
        Format::Old if shape.len % 2 != 1 => return whole(Rule::TypeOperandCount),
        Format::New if !shape.len.is_multiple_of(3) => return whole(Rule::TypeOperandCount),
        Format::Old if !matches!(graph.operand(node, 0), Some(Operand::String(_))) => {
            return vec![Fault { rule: Rule::TypeName, operand: Some(0) }];
        }
        Format::New if int(1).is_none() => {
            return vec![Fault { rule: Rule::TypeSize, operand: Some(1) }];
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
        let Some(offset) = int(at + 1) else {
            report(Rule::FieldOffset, at + 1);
            continue;
        };
        if *width.get_or_insert(offset.bits) != offset.bits {
            report(Rule::FieldOffsetWidth, at + 1);
            continue;
        }
        if offset.value < previous {
            report(Rule::FieldOrder, at + 1);
        }
        previous = offset.value;
        if format == Format::New && int(at + 2).is_none() {
            report(Rule::FieldSize, at + 2);
        }
    }
    faults
}

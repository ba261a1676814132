//! Sorts the fields of types in a copy of the module, because unsorted fields hide other findings.

use std::ops::Range;

use crate::diagnostic::Rule;
use crate::verify::type_faults;
use crate::{Findings, Subject};
use tbaa::parts::Shape;
use tbaa::{Format, Operand};
use tbaa_ir::{Edits, Keep, Module};

/// The largest number of operands of a repaired node. Finding an operand takes linear time.
const OPERANDS: usize = 256;

/// The largest number of nodes that are repaired.
const NODES: usize = 64;

/// A copy of a module, in which the repaired types list their fields in order.
struct Repaired {
    /// The module. Its text is as long as the original text, and everything except the operands of
    /// fields has its original position.
    module: Module<'static>,
    fields: Vec<Range<usize>>,
}

/// Returns the findings in a module, and the further findings in its repaired copy.
pub(crate) fn run(module: &Module<'_>, run: impl Fn(&Subject) -> Findings) -> Findings {
    let subject = Subject::of_module(module);
    let mut found = run(&subject);
    if let Some(repaired) = Repaired::of(&subject) {
        repaired.add(run(&Subject::of_module(&repaired.module)), &mut found);
    }
    found.in_order()
}

impl Repaired {
    /// Sorts the fields of types that break [`Rule::FieldOrder`] and no other rule; `None` if no
    /// type is repaired. LLVM's verifier rejects every tag that goes through such a type.
    fn of(subject: &Subject) -> Option<Repaired> {
        let text = subject.module?.text();
        let (graph, mut edits, mut fields) = (subject.graph, Edits::default(), Vec::new());
        for ty in graph.types() {
            let (node, format) = (ty.node(), graph.ty(ty).format());
            let len = graph.operand_count(node);
            if len > OPERANDS || fields.len() == NODES {
                continue;
            }
            let faults = type_faults(graph, node, format);
            if faults.is_empty() || faults.iter().any(|&rule| rule != Rule::FieldOrder) {
                continue;
            }
            if let Some((span, sorted)) = sorted(subject, ty, len, format) {
                fields.push(span.clone());
                edits.replace(span, sorted);
            }
        }
        if fields.is_empty() {
            return None;
        }
        let module = tbaa_ir::read_with(edits.apply(text), Keep::Used).ok()?;
        (module.text().len() == text.len()).then_some(Repaired { module, fields })
    }

    /// Adds the findings in the repaired module that `to` does not contain yet. A label inside
    /// moved fields is extended to all fields of the node.
    fn add(&self, found: Findings, to: &mut Findings) {
        let is_new = |new: &crate::Diagnostic| {
            !to.iter().any(|known| known.code == new.code && known.primary == new.primary)
        };
        let mut new: Vec<_> = found.into_iter().filter(is_new).collect();
        for finding in &mut new {
            for label in finding.primary.iter_mut().chain(&mut finding.secondary) {
                let inside =
                    |of: &&Range<usize>| of.contains(&label.span.start) && label.span.end <= of.end;
                if let Some(of) = self.fields.iter().find(inside) {
                    label.span = of.clone();
                }
            }
            if to.admits(finding.code) {
                to.push(finding.clone());
            }
        }
    }
}

/// Returns the span of a node's fields in the text, and the text of the fields in order of their
/// offsets, padded to the same length in bytes.
fn sorted(
    subject: &Subject,
    ty: tbaa::TypeId,
    len: usize,
    format: Format,
) -> Option<(Range<usize>, String)> {
    let (graph, node, text) = (subject.graph, ty.node(), subject.module?.text());
    let shape = Shape { format, len };
    let mut fields = Vec::new();
    for at in shape.fields() {
        let offset = graph.operand(node, shape.offset(at)).and_then(Operand::int)?;
        let spans = shape.operands(at).map(|at| subject.operand_span(node, at));
        fields.push((offset.value, spans.collect::<Option<Vec<_>>>()?));
    }
    let start = fields.first()?.1.first()?.start;
    let end = fields.last()?.1.last()?.end;
    fields.sort_by_key(|(offset, _)| *offset);
    let spans = fields.into_iter().flat_map(|(_, spans)| spans);
    let operands: Vec<_> = spans.map(|span| String::from_utf8_lossy(&text[span])).collect();
    let sorted = operands.join(",");
    let padding = (end - start).checked_sub(sorted.len())?;
    Some((start..end, sorted + &" ".repeat(padding)))
}

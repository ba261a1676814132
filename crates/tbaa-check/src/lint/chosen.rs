//! Loads through pointers that a `select` chooses among memory of several types.

use super::report::Report;
use crate::diagnostic::Lint;
use crate::subject::Subject;
use tbaa::parts::table::HashMap;
use tbaa::{Oracle, TagId};
use tbaa_ir::{Function, Module, Opcode, Value};

/// Accesses through one pointer that are compared with a load.
const COMPARED: usize = 32;

pub(super) fn look(
    subject: &Subject<'_>,
    module: &Module<'_>,
    oracle: &Oracle<&tbaa::Graph>,
    body: &Function<'_>,
    report: &mut Report<'_>,
) {
    if !report.wants(Lint::ChosenPointer) {
        return;
    }
    // The two pointers of each select, and the accesses through each of these.
    let mut chosen: HashMap<Value, [Value; 2]> = HashMap::default();
    let mut through: HashMap<Value, Vec<(usize, TagId)>> = HashMap::default();
    for inst in body.instructions.iter().filter(|it| it.opcode == Opcode::Select) {
        if let (Some(result), &[_, a, b]) = (inst.result, body.operands(inst)) {
            chosen.insert(result, [a, b]);
            through.insert(a, Vec::new());
            through.insert(b, Vec::new());
        }
    }
    if chosen.is_empty() {
        return;
    }
    let accesses = body.instructions.iter().filter_map(|inst| {
        let index = inst.access?;
        Some((index, inst.opcode, module.instructions()[index].tag?, body.pointer(inst)?))
    });
    let accesses: Vec<_> = accesses.collect();
    for &(index, _, tag, pointer) in &accesses {
        if let Some(list) = through.get_mut(&pointer).filter(|it| it.len() < COMPARED) {
            list.push((index, tag));
        }
    }
    for &(load, opcode, tag, pointer) in &accesses {
        let Some(arms) = chosen.get(&pointer).filter(|_| opcode == Opcode::Load) else { continue };
        let others = arms.iter().flat_map(|arm| through.get(arm).into_iter().flatten());
        let Some(&(other, its)) = others.into_iter().find(|it| !oracle.may_alias(it.1, tag)) else {
            continue;
        };
        let [a, b] = [tag, its].map(|tag| subject.tag_meaning(tag));
        let [load, other] = [load, other].map(|index| &module.instructions()[index]);
        let function = subject.function_of(load);
        let message =
            || format!("a load as {a} is through a pointer that may be to {b}, in {function}");
        let Some(found) = report.add(Lint::ChosenPointer, message) else { continue };
        found.primary = Some(subject.instruction_label(load, format!("loaded as {a}")));
        found.secondary.push(subject.instruction_label(other, format!("this memory is {b}")));
        found.note(
            "LLVM may load from both pointers with this tag, and then takes one of the loads for \
             apart from stores to its memory",
        );
        found.advise(
            "leave the load without a tag, or load in both branches, each with the tag of its memory",
        );
    }
}

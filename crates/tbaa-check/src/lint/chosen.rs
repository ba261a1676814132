//! Loads through pointers that a `select` chooses among memory of several types.

use super::report::Report;
use crate::diagnostic::Lint;
use crate::subject::Subject;
use tbaa::parts::table::HashMap;
use tbaa::{AliasRule, Oracle, TagId};
use tbaa_ir::{Module, Opcode};

/// Accesses through one pointer that are compared with a load.
const COMPARED: usize = 32;

pub(super) fn lint(subject: &Subject<'_>, report: &mut Report<'_>) {
    let Some(module) = subject.module.filter(|_| report.wants(Lint::ChosenPointer)) else { return };
    let oracle = Oracle::new(subject.graph, AliasRule::Llvm);
    for function in 0..module.functions().len() as u32 {
        look(subject, module, &oracle, function, report);
    }
}

fn look(
    subject: &Subject<'_>,
    module: &Module<'_>,
    oracle: &Oracle<&tbaa::Graph>,
    function: u32,
    report: &mut Report<'_>,
) {
    // Most functions have no `select`, and to read a body takes time.
    let text = module.text();
    if memchr::memmem::find(&text[module.function_span(function)], b"select").is_none() {
        return;
    }
    let body = module.body(function);
    // The two pointers of each select, and the accesses through each of these.
    let mut chosen: HashMap<&[u8], [&[u8]; 2]> = HashMap::default();
    let mut through: HashMap<&[u8], Vec<(usize, TagId)>> = HashMap::default();
    for statement in body.statements.iter().filter(|it| it.word == b"select") {
        let values: Vec<&[u8]> = statement.values().collect();
        if let (Some(result), Some(&[a, b])) = (statement.result, values.last_chunk::<2>()) {
            chosen.insert(result, [a, b]);
            through.insert(a, Vec::new());
            through.insert(b, Vec::new());
        }
    }
    if chosen.is_empty() {
        return;
    }
    let accesses = body.statements.iter().filter_map(|it| it.access);
    let accesses = accesses.filter_map(|index| {
        let instruction = &module.instructions()[index];
        let pointer = &text[module.pointer_span(instruction)?];
        Some((index, instruction.opcode, instruction.tag?, pointer))
    });
    let accesses: Vec<_> = accesses.collect();
    for &(index, _, tag, pointer) in &accesses {
        if let Some(list) = through.get_mut(pointer).filter(|it| it.len() < COMPARED) {
            list.push((index, tag));
        }
    }
    for &(load, opcode, tag, pointer) in &accesses {
        let Some(arms) = chosen.get(pointer).filter(|_| opcode == Opcode::Load) else { continue };
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

//! Lints that examine memory accesses.

use std::rc::Rc;

use super::function::Functions;
use super::members::{self, Members};
use super::reads::{self, Reported};
use super::{Lint, Report, Subject, chosen};
use tbaa::parts::table::{HashMap, HashSet};
use tbaa::{AliasRule, Oracle, TagId, TypeId};
use tbaa_ir::{Effects, Function, Instruction, Module, Opcode};

pub(super) fn lint<'a>(subject: &Subject<'a>, report: &mut Report) {
    let Some(module) = subject.module else { return };
    immutable(subject, module, report);
    if report.wants(Lint::Untagged) {
        untagged(subject, module, report);
    }
    let with_members = members::are_wanted(subject.graph, report);
    let in_order = [Lint::PointerUnderTwoTags, Lint::ReadUnderOtherTag, Lint::ChosenPointer];
    let in_order = with_members || in_order.into_iter().any(|lint| report.wants(lint));
    let of_calls = report.wants(Lint::ArgumentMemory);
    let Some(sizes) = subject.sizes().filter(|_| in_order || of_calls) else { return };
    let oracle = Oracle::new(subject.graph, AliasRule::Llvm);
    let effects = Effects::new(module);
    let functions = Functions::new(module, sizes, &oracle, &effects, with_members);
    let mut members = Members::default();
    let mut reported = Reported::default();
    for number in 0..module.functions().len() as u32 {
        let accesses = &module.instructions()[module.accesses_of(number)];
        let is_tagged = in_order && accesses.iter().any(|access| access.tag.is_some());
        let is_call = |access: &&Instruction| access.opcode == Opcode::Call && access.tag.is_some();
        let calls: Vec<_> = accesses.iter().filter(|_| of_calls).filter(is_call).collect();
        if !is_tagged && calls.is_empty() {
            continue;
        }
        let function = Rc::new(module.function(sizes, number));
        argument_memory(subject, &function, &calls, report);
        if !is_tagged {
            continue;
        }
        let Some(read) = functions.read(&function) else { continue };
        chosen::look(subject, module, &oracle, &read, report);
        if with_members {
            for index in module.accesses_of(number) {
                members.add(subject, &module.instructions()[index], read.members.get(&index));
            }
        }
        reads::look((subject, module), &oracle, (&read, number), &mut reported, report);
    }
    members.report(subject, &oracle, &reported.tags, report);
}

/// Reports stores to memory that a tag calls immutable.
fn immutable(subject: &Subject, module: &Module<'_>, report: &mut Report) {
    let graph = subject.graph;
    let path = |tag: TagId| -> Option<(bool, (TypeId, TypeId, u64))> {
        let tag = graph.tag(tag).ok()?;
        Some((tag.immutable, (tag.base, tag.access, tag.offset)))
    };
    // The first instruction with an immutable tag, for each access path.
    let mut constant: HashMap<_, &Instruction> = HashMap::default();
    for instruction in module.instructions() {
        if let Some((true, path)) = instruction.tag.and_then(path) {
            constant.entry(path).or_insert(instruction);
        }
    }
    let mut seen = HashSet::default();
    for instruction in module.instructions() {
        let writes =
            matches!(instruction.opcode, Opcode::Store | Opcode::AtomicRmw | Opcode::CmpXchg);
        let Some(tag) = instruction.tag.filter(|_| writes) else { continue };
        let Some((immutable, path)) = path(tag) else { continue };
        let Some(&first) = constant.get(&path) else { continue };
        if !seen.insert(path) {
            continue;
        }
        let meaning = subject.tag_meaning(tag);
        let message = || format!("{meaning} is stored to, but a tag says that it is immutable");
        let Some(found) = report.add(Lint::ImmutableStored, message) else { continue };
        found.primary = Some(subject.instruction_label(instruction, "stored here"));
        if !immutable {
            found.secondary.push(subject.tag_label(first, "immutable here"));
        }
        found.explain(
            "LLVM may move loads with the immutable tag out of loops and past this store, or \
             replace their values by undef",
            "remove the immutable flag; it is right only if the memory is written before LLVM can \
             see a load of it, and with another tag",
        );
    }
}

/// Reports tagged calls with a `byval`, `sret`, `inalloca` or `preallocated` argument.
fn argument_memory(
    subject: &Subject,
    function: &Function<'_>,
    calls: &[&Instruction],
    report: &mut Report,
) {
    for one in calls {
        let inst = function.at(one.offset as usize).map(|at| &function.instructions[at]);
        let call = inst.and_then(|inst| function.call(inst));
        let arguments = call.iter().flat_map(|call| &call.arguments);
        let own = [&b"byval"[..], b"sret", b"inalloca", b"preallocated"];
        let mut words = arguments.flat_map(|argument| argument.words());
        let Some(word) = words.find(|word| own.contains(word)) else { continue };
        let word = String::from_utf8_lossy(word);
        let message = || format!("a call has a tag, and an argument that is memory ({word})");
        let Some(found) = report.add(Lint::ArgumentMemory, message) else { continue };
        found.primary = Some(subject.instruction_label(one, "the call"));
        let tag = one.tag.map(|tag| subject.graph.tag_node(tag));
        found.secondary.extend(tag.and_then(|tag| subject.node_label(tag, "its tag")));
        found.explain(
            "LLVM takes the tag for all memory that the call accesses, and may remove the store that fills \
             the argument, or move reads of its memory across the call",
            "leave the call without a tag",
        );
    }
}

/// Reports functions in which some non-volatile loads and stores have a tag, and others have none.
fn untagged(subject: &Subject, module: &Module, report: &mut Report) {
    for function in module.instructions().chunk_by(|a, b| a.function == b.function) {
        let plain = |instruction: &&Instruction| {
            matches!(instruction.opcode, Opcode::Load | Opcode::Store) && !instruction.volatile
        };
        let all = function.iter().filter(plain).count();
        let mut bare = function.iter().filter(plain).filter(|access| access.tag.is_none());
        let (Some(one), more) = (bare.next(), bare.count()) else { continue };
        if more + 1 == all {
            continue;
        }
        let name = subject.function_of(one);
        let message = || format!("{} of {all} loads and stores have no tag, in {name}", more + 1);
        let Some(found) = report.add(Lint::Untagged, message) else { continue };
        found.primary = Some(subject.instruction_label(one, "one of them"));
        found.note("by every rule, an access without a tag may alias every other");
        found.advise("tag it; use the tag of `char` for memory without a type of its own");
    }
}

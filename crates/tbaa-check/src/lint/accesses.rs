//! What a function's accesses say together.

use std::rc::Rc;

use super::chosen;
use super::function::{Event, Functions, Pointee};
use super::members::{self, Members};
use super::report::Report;
use crate::diagnostic::Lint;
use crate::subject::Subject;
use tbaa::parts::table::{HashMap, HashSet, IndexMap};
use tbaa::{AliasRule, Oracle};
use tbaa::{Graph, TagId, TypeId};
use tbaa_ir::{Effects, Function, Instruction, Module, Opcode, Value};

/// Comparisons of two tags that one function may cost, beyond one an access: a
/// function has at most tens of thousands of accesses.
const COMPARISONS: usize = 1 << 20;

pub(super) fn lint<'a>(subject: &Subject<'a>, report: &mut Report<'_>) {
    let Some(module) = subject.module else { return };
    immutable(subject, module, report);
    if report.wants(Lint::Untagged) {
        untagged(subject, module, report);
    }
    let with_members = members::are_wanted(subject.graph, report);
    let in_order = [Lint::PointerUnderTwoTags, Lint::ReadUnderOtherTag, Lint::ChosenPointer];
    let in_order = with_members || in_order.into_iter().any(|it| report.wants(it));
    let of_calls = report.wants(Lint::ArgumentMemory);
    let Some(sizes) = subject.sizes().filter(|_| in_order || of_calls) else { return };
    let oracle = Oracle::new(subject.graph, AliasRule::Llvm);
    let effects = Effects::new(module);
    let functions = Functions::new(module, &oracle, &effects, with_members);
    let mut members = Members::default();
    let mut reported = HashSet::default();
    for number in 0..module.functions().len() as u32 {
        let accesses = &module.instructions()[module.accesses_of(number)];
        let mut tags = accesses.iter().filter_map(|it| it.tag);
        let first = tags.next();
        // Accesses under one tag agree, and to read a function takes time.
        let is_mixed = in_order && (with_members || tags.any(|tag| Some(tag) != first));
        let calls = accesses.iter().filter(|it| it.opcode == Opcode::Call && it.tag.is_some());
        let calls: Vec<_> = if of_calls { calls.collect() } else { Vec::new() };
        if !is_mixed && calls.is_empty() {
            continue;
        }
        let function = Rc::new(module.function(sizes, number));
        argument_memory(subject, &function, &calls, report);
        if !is_mixed {
            continue;
        }
        chosen::look(subject, module, &oracle, &function, report);
        let read = functions.read(&function);
        if with_members {
            for index in module.accesses_of(number) {
                members.add(subject, &module.instructions()[index], read.members.get(&index));
            }
        }
        let mut state = State::new(subject, module, &oracle);
        read.events.into_iter().for_each(|event| state.event(event, report));
        reported.extend(state.reported);
    }
    members.report(subject, &oracle, &reported, report);
}

/// What is known of memory within a block.
struct State<'s> {
    subject: &'s Subject<'s>,
    module: &'s Module<'s>,
    oracle: &'s Oracle<&'s Graph>,
    /// The last access to each place since the block began or memory changed in
    /// ways that tags do not describe, by its index and its number in the block.
    last: HashMap<Pointee, (usize, usize)>,
    /// The number of the last access before slots became fresh, and before any of
    /// them did.
    fresh: HashMap<Option<Value>, usize>,
    /// The number of the last store under each tag.
    stores: IndexMap<TagId, usize>,
    count: usize,
    comparisons: usize,
    reported: HashSet<(TagId, TagId)>,
}

impl<'s> State<'s> {
    fn new(
        subject: &'s Subject<'s>,
        module: &'s Module<'s>,
        oracle: &'s Oracle<&'s Graph>,
    ) -> Self {
        State {
            subject,
            module,
            oracle,
            last: HashMap::default(),
            fresh: HashMap::default(),
            stores: IndexMap::default(),
            count: 0,
            comparisons: COMPARISONS,
            reported: HashSet::default(),
        }
    }

    fn event(&mut self, event: Event, report: &mut Report<'_>) {
        let (index, place) = match event {
            Event::Barrier => {
                self.last.clear();
                self.stores.clear();
                self.fresh.clear();
                return;
            }
            Event::Fresh(slot) => {
                self.fresh.insert(Some(slot), self.count);
                // Any pointer that is not known to be elsewhere may be into it.
                self.fresh.insert(None, self.count);
                return;
            }
            Event::Access(index, place) => (index, place),
        };
        let instruction = &self.module.instructions()[index];
        let stores = instruction.opcode == Opcode::Store;
        let Some(tag) = instruction.tag.filter(|_| !instruction.volatile && !instruction.atomic)
        else {
            // What an untagged store changes, no tag tells.
            if instruction.opcode != Opcode::Load {
                self.event(Event::Barrier, report);
            }
            return;
        };
        self.count += 1;
        // What has no place may be anywhere.
        if stores {
            self.stores.insert(tag, self.count);
        }
        let Some(place) = place else { return };
        if let Some(&(earlier, number)) = self.last.get(&place)
            && self.fresh.get(&place.slot).is_none_or(|&at| at < number)
        {
            let other = self.module.instructions()[earlier].tag;
            if let Some(other) = other.filter(|&other| other != tag)
                && !self.reported.contains(&(other, tag))
                && !self.oracle.may_alias(other, tag)
                && !(stores || self.may_have_changed(tag, number, report))
            {
                self.reported.insert((other, tag));
                found(self.subject, report, self.module, earlier, index);
            }
        }
        self.last.insert(place, (index, self.count));
    }

    /// Whether a store since access `number` may have written what is read
    /// under `tag`; beyond the limit one may.
    fn may_have_changed(&mut self, tag: TagId, number: usize, report: &mut Report<'_>) -> bool {
        for (&stored, &at) in &self.stores {
            if self.comparisons == 0 {
                report.stop(Lint::ReadUnderOtherTag);
                report.stop(Lint::PointerUnderTwoTags);
                return true;
            }
            self.comparisons -= 1;
            if at > number && self.oracle.may_alias(stored, tag) {
                return true;
            }
        }
        false
    }
}

/// Reports that what `earlier` accesses is read by `later` under another tag.
fn found(
    subject: &Subject<'_>,
    report: &mut Report<'_>,
    module: &Module<'_>,
    earlier: usize,
    later: usize,
) {
    let [first, second] = [earlier, later].map(|index| &module.instructions()[index]);
    let [a, b] =
        [first, second].map(|it| it.tag.map_or(String::new(), |tag| subject.tag_meaning(tag)));
    let function = subject.function_of(second);
    let stored = first.opcode == Opcode::Store;
    let (lint, message, note) = if stored {
        (
            Lint::ReadUnderOtherTag,
            format!("a value stored as {a} is read as {b}, in {function}"),
            "LLVM assumes that these are different memory: it may move the load before the store, or \
             remove the store",
        )
    } else {
        (
            Lint::PointerUnderTwoTags,
            format!("one pointer is read as {a} and as {b}, in {function}"),
            "LLVM assumes that these are different memory: after a store to one it may reuse the old \
             value of the other",
        )
    };
    let Some(found) = report.add(lint, || message) else { return };
    found.primary = Some(subject.instruction_label(second, format!("read as {b}")));
    let verb = if stored { "stored" } else { "read" };
    found.secondary.push(subject.instruction_label(first, format!("{verb} as {a}")));
    found.note(note);
    let is_c = memchr::memmem::find(module.text(), b"language: DW_LANG_C").is_some();
    found.advise(match is_c {
        true => {
            "copy the bytes with memcpy, access both through one type, or through a union that has \
             both as members; -fno-strict-aliasing makes clang leave the tags off"
        }
        false => {
            "give both accesses the same tag, or give one of them a tag that covers the other, such \
             as that of `char`; all members of a union share one tag"
        }
    });
}

/// Stores to what a tag calls immutable.
fn immutable(subject: &Subject<'_>, module: &Module<'_>, report: &mut Report<'_>) {
    let graph = subject.graph;
    let path = |tag: TagId| -> Option<(bool, (TypeId, TypeId, u64))> {
        let tag = graph.tag(tag).ok()?;
        Some((tag.immutable, (tag.base, tag.access, tag.offset)))
    };
    // The first instruction with an immutable tag of each path.
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
        found.note(
            "LLVM may move loads with the immutable tag out of loops and past this store, or \
             replace their values by undef",
        );
        found.advise(
            "remove the immutable flag; it is right only if the memory is written before LLVM can \
             see a load of it, and with another tag",
        );
    }
}

/// Tagged calls that copy or fill the memory of an argument by themselves.
fn argument_memory(
    subject: &Subject<'_>,
    function: &Function<'_>,
    calls: &[&Instruction],
    report: &mut Report<'_>,
) {
    for one in calls {
        let inst = function.at(one.offset as usize).map(|at| &function.instructions[at]);
        let call = inst.and_then(|it| function.call(it));
        let arguments = call.iter().flat_map(|call| &call.arguments);
        let mut attributes =
            arguments.flat_map(|it| it.attributes.split(|&byte| byte == b' ' || byte == b'('));
        let own = [&b"byval"[..], b"sret", b"inalloca", b"preallocated"];
        let Some(word) = attributes.find(|word| own.contains(word)) else { continue };
        let word = String::from_utf8_lossy(word);
        let message = || format!("a call has a tag, and an argument that is memory ({word})");
        let Some(found) = report.add(Lint::ArgumentMemory, message) else { continue };
        found.primary = Some(subject.instruction_label(one, "the call"));
        found.secondary.extend(
            one.tag.and_then(|tag| subject.node_label(subject.graph.tag_node(tag), "its tag")),
        );
        found.note(
            "LLVM takes the tag for all memory that the call accesses, and may remove the store that fills \
             the argument, or move reads of its memory across the call",
        );
        found.advise("leave the call without a tag");
    }
}

/// Functions in which some loads and stores have a tag and some have not.
fn untagged(subject: &Subject<'_>, module: &Module, report: &mut Report<'_>) {
    for function in module.instructions().chunk_by(|a, b| a.function == b.function) {
        let plain =
            |it: &&Instruction| matches!(it.opcode, Opcode::Load | Opcode::Store) && !it.volatile;
        let all = function.iter().filter(plain).count();
        let mut bare = function.iter().filter(plain).filter(|it| it.tag.is_none());
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

//! Finds memory that is accessed under two tags for which LLVM answers NoAlias.
//!
//! A store is reported if every path from it to an end of the function loads the stored bytes under
//! the other tag, and nothing in between may write these bytes. A load on only some paths is not
//! reported: the memory may be a union, and the load may run only if another member was stored.
//!
//! Two loads are reported only within one block.

use std::collections::VecDeque;

use super::function::{Access, Event, Place, Read};
use super::{Lint, Report, Subject};
use tbaa::parts::table::{HashMap, HashSet, IndexMap};
use tbaa::{Graph, Oracle, TagId, TypeKind};
use tbaa_ir::{Instruction, Module, Opcode, Value, remedy};

/// The largest total of comparisons and visited events for one function.
const COMPARISONS: usize = 1 << 20;

/// The pairs that were reported in all functions so far.
#[derive(Default)]
pub(super) struct Reported {
    pub(super) tags: HashSet<(TagId, TagId)>,
    /// Pairs of instructions. Events of a callee may also appear in its callers, so a search may
    /// find a pair again.
    instructions: HashSet<[usize; 2]>,
}

pub(super) fn look(
    (subject, module): (&Subject, &Module<'_>),
    oracle: &Oracle<&Graph>,
    (read, function): (&Read<'_>, u32),
    all: &mut Reported,
    report: &mut Report,
) {
    let (comparisons, reported) = (COMPARISONS, HashSet::default());
    let mut reads = Reads { subject, module, oracle, read, function, comparisons, reported, all };
    if report.wants(Lint::ReadUnderOtherTag) {
        reads.stored(report);
    }
    if report.wants(Lint::PointerUnderTwoTags) {
        reads.loaded(report);
    }
    if reads.comparisons == 0 {
        report.stop(Lint::ReadUnderOtherTag);
        report.stop(Lint::PointerUnderTwoTags);
    }
    let reported = std::mem::take(&mut reads.reported);
    all.tags.extend(reported);
}

struct Reads<'s> {
    subject: &'s Subject<'s>,
    module: &'s Module<'s>,
    oracle: &'s Oracle<&'s Graph>,
    read: &'s Read<'s>,
    function: u32,
    comparisons: usize,
    /// The pairs of tags that were reported in this function.
    reported: HashSet<(TagId, TagId)>,
    all: &'s mut Reported,
}

/// A store, identified by the block and position of its event.
struct Store {
    block: usize,
    event: usize,
    place: Place,
    mask: Option<Value>,
}

impl<'s> Reads<'s> {
    fn instruction(&self, access: &Access) -> &'s Instruction {
        &self.module.instructions()[access.index]
    }

    /// Counts a comparison, and returns false if the limit is reached.
    fn compare(&mut self) -> bool {
        self.comparisons = self.comparisons.saturating_sub(1);
        self.comparisons > 0
    }

    fn are_apart(&mut self, a: TagId, b: TagId) -> bool {
        a != b && self.compare() && !self.oracle.may_alias(a, b)
    }

    /// Returns whether an access is a call, such as `memcpy`, whose tag accesses a whole struct.
    fn is_of_parts(&self, access: &Access) -> bool {
        let (graph, instruction) = (self.subject.graph, self.instruction(access));
        let tag = instruction.tag.and_then(|tag| graph.tag(tag).ok());
        instruction.opcode == Opcode::Call
            && tag.is_some_and(|tag| graph.ty(tag.access).kind() == TypeKind::Aggregate)
    }

    /// Looks for memory that is stored under one tag and read under another.
    fn stored(&mut self, report: &mut Report) {
        let read = self.read;
        let mut loads: HashMap<usize, IndexMap<TagId, Vec<Place>>> = HashMap::default();
        for event in read.blocks.iter().flatten() {
            if let Event::Access(access @ Access { stores: false, place: Some(place), .. }) = event
                && let Some(tag) = self.instruction(access).tag
                && !self.is_of_parts(access)
            {
                loads.entry(place.base).or_default().entry(tag).or_default().push(*place);
            }
        }
        let mut ends = None;
        for (block, events) in read.blocks.iter().enumerate() {
            for (event, it) in events.iter().enumerate() {
                let Event::Access(access @ Access { index, stores: true, place, mask }) = *it
                else {
                    continue;
                };
                let instruction = self.instruction(&access);
                let (Some(stored), Some(place)) = (instruction.tag, place) else { continue };
                let Some(loads) = loads.get(&place.base) else { continue };
                if instruction.volatile || self.is_of_parts(&access) {
                    continue;
                }
                let store = Store { block, event, place, mask };
                for (&tag, places) in loads {
                    if self.reported.contains(&(stored, tag))
                        || !places.iter().any(|it| self.compare() && place.meets(it) == Some(true))
                        || !self.are_apart(stored, tag)
                    {
                        continue;
                    }
                    let ends = ends.get_or_insert_with(|| read.flow.ends());
                    if let Some((block, later)) = self.always_read(&store, tag, ends) {
                        self.reported.insert((stored, tag));
                        self.found(report, [index, later], true, block == store.block);
                    }
                }
            }
        }
    }

    /// Returns the block and index of a nearest load of the stored bytes under `tag`, if each path
    /// to an end of the function runs such a load before anything may write the bytes.
    fn always_read(&mut self, store: &Store, tag: TagId, ends: &[bool]) -> Option<(usize, usize)> {
        let read = self.read;
        let pointers = &read.pointers;
        let address = pointers.address(store.place.pointer);
        let terms = address.terms.iter().map(|term| term.0);
        let mut anew = Vec::new();
        for value in terms.chain([address.base]).chain(store.mask) {
            anew.extend(pointers.defined_in(value)?);
        }
        let mut nearest = None;
        let mut pending = VecDeque::from([(store.block, store.event + 1)]);
        let mut seen = HashSet::default();
        'ways: while let Some((block, from)) = pending.pop_front() {
            // The address may change in this block, or no path leads to an end of the function.
            if from == 0 && anew.contains(&block) || !ends[block] {
                return None;
            }
            let mut reading = None;
            for (at, event) in read.blocks[block].iter().enumerate().skip(from) {
                // The search came back to the store, whose successors are already searched.
                if (block, at) == (store.block, store.event) {
                    continue 'ways;
                }
                if !self.compare() || self.may_write(event, store, tag) {
                    return None;
                }
                if let Event::Access(access) = event
                    && self.reads(access, store, tag)
                {
                    reading = Some((block, access.index));
                    break;
                }
            }
            if reading.is_some() {
                nearest = nearest.or(reading);
                continue;
            }
            let next = &read.function.blocks[block].successors;
            if next.is_empty() {
                return None;
            }
            pending.extend(next.iter().filter(|it| seen.insert(**it)).map(|&it| (it, 0)));
        }
        nearest
    }

    /// Returns whether an access loads, under `tag`, bytes that a store wrote.
    fn reads(&self, access: &Access, store: &Store, tag: TagId) -> bool {
        let instruction = self.instruction(access);
        let shares = |place: Place| match (access.mask, store.mask) {
            (None, None) => store.place.meets(&place) == Some(true),
            // A masked store may write other bytes than the load reads, unless the masks are equal.
            (mask, own) => mask == own && store.place.begins_at(&place),
        };
        !access.stores
            && !instruction.volatile
            && instruction.tag == Some(tag)
            && access.place.is_some_and(shares)
    }

    /// Returns whether an event may write the stored bytes. Tags decide if addresses do not.
    fn may_write(&mut self, event: &Event, store: &Store, tag: TagId) -> bool {
        let pointers = &self.read.pointers;
        let apart = |at| pointers.meet((at, None), (store.place.pointer, None)) == Some(false);
        match event {
            Event::Change(None) => true,
            Event::Change(Some(call)) => {
                !pointers.is_out_of_reach(store.place.pointer, *call, false, false)
            }
            Event::Fresh(slot) => !apart(*slot),
            Event::Access(Access { stores: false, .. }) => false,
            Event::Access(access) => {
                match access.place.map(|place| (place.meets(&store.place), place.pointer)) {
                    Some((Some(meets), _)) => meets,
                    Some((None, pointer)) if apart(pointer) => false,
                    _ => {
                        let own = self.instruction(access).tag;
                        own.is_none_or(|own| own == tag || !self.are_apart(own, tag))
                    }
                }
            }
        }
    }

    /// Looks for memory that one block loads under two tags.
    fn loaded(&mut self, report: &mut Report) {
        for events in &self.read.blocks {
            let mut block = Block::default();
            for event in events {
                self.next(&mut block, event, report);
            }
        }
    }

    fn next(&mut self, block: &mut Block, event: &Event, report: &mut Report) {
        let access = match event {
            Event::Change(_) => return *block = Block::default(),
            Event::Fresh(slot) => {
                block.fresh.insert(Some(*slot), block.count);
                // A pointer whose slot is unknown may point into this slot.
                block.fresh.insert(None, block.count);
                return;
            }
            Event::Access(access) => access,
        };
        let instruction = self.instruction(access);
        // A compare-exchange always loads, even if it stores nothing.
        let is_atomic = instruction.atomic && instruction.opcode != Opcode::CmpXchg;
        let tag = instruction.tag.filter(|_| !instruction.volatile && !is_atomic);
        let is_load = instruction.opcode != Opcode::Call;
        let Some(tag) = tag.filter(|_| access.stores || is_load) else {
            // An untagged, volatile or atomic store may change anything.
            if access.stores {
                *block = Block::default();
            }
            return;
        };
        block.count += 1;
        // A store without a known address may write anywhere.
        if access.stores {
            block.stores.insert(tag, block.count);
        }
        let Some(place) = access.place else { return };
        let here = (place.base, place.offset);
        if access.stores {
            block.last.remove(&here);
            return;
        }
        if let Some(&(earlier, other, number)) = block.last.get(&here)
            && block.fresh.get(&place.slot).is_none_or(|&at| at < number)
            && !self.reported.contains(&(other, tag))
            && self.are_apart(other, tag)
            && !block
                .stores
                .iter()
                .any(|(&it, &at)| !self.compare() || at > number && !self.are_apart(it, tag))
        {
            self.reported.insert((other, tag));
            self.found(report, [earlier, access.index], false, true);
        }
        block.last.insert(here, (access.index, tag, block.count));
    }

    /// Reports that two instructions access the same memory under different tags.
    fn found(&mut self, report: &mut Report, pair: [usize; 2], stored: bool, in_block: bool) {
        if !self.all.instructions.insert(pair) {
            return;
        }
        let subject = self.subject;
        let [first, second] = pair.map(|index| &self.module.instructions()[index]);
        let [a, b] =
            [first, second].map(|it| it.tag.map_or(String::new(), |tag| subject.tag_meaning(tag)));
        let mut function = subject.function_of(second);
        if first.function != second.function {
            function = format!("{} and {function}", subject.function_of(first));
        }
        if ![first, second].iter().any(|it| it.function == self.function) {
            let caller = subject.function_called(self.function);
            function = format!("{function}, which {caller} calls");
        }
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
        if !in_block {
            found.note("whenever the store runs, such a read runs, and nothing in between writes the memory");
        }
        found.note(note);
        let is_c = memchr::memmem::find(self.module.text(), b"language: DW_LANG_C").is_some();
        found.advise(remedy(is_c));
    }
}

/// The tagged accesses of a block since its start, or since the last event that may change any
/// memory. They are numbered from 1.
#[derive(Default)]
struct Block {
    /// For each address, its last load: the load's index, tag, and number in the block.
    last: HashMap<(usize, i64), (usize, TagId, usize)>,
    /// For each slot, `count` when the slot's lifetime last began or ended. The entry for `None` is
    /// the largest of these numbers.
    fresh: HashMap<Option<Value>, usize>,
    /// The number of the last store under each tag.
    stores: IndexMap<TagId, usize>,
    count: usize,
}

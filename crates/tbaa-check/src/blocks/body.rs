//! A function as the judge reads it: what in its blocks may touch memory.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use tbaa_ir::{
    Address, Effects, Flow, Function, Inst, Instruction, Loop, MemoryEffects, MemoryLocation,
    Module, Object, Opcode, Pointers, Sizes, Value,
};
use tbaa_types::Type;

use super::ways::{Marks, Point};

/// The events of a loop that is looked at, at most.
const FAR: usize = 4096;

/// Something that may read or write memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Event {
    /// Index into the module's instructions.
    Access(usize),
    /// A call, or a fence: its index in the function.
    Other(usize),
}

impl Event {
    /// Returns the index into the module's instructions, if it is an access.
    #[must_use]
    pub fn access(self) -> Option<usize> {
        match self {
            Event::Access(index) => Some(index),
            Event::Other(_) => None,
        }
    }
}

/// The place of a load or store, or the result of a call that reads. Two of equal keys touch
/// the same bytes where both run.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Key<'t> {
    Place(Address, Option<Type>),
    /// The callee, and the numbers of its arguments.
    Call(&'t [u8], Vec<Value>),
}

/// A function with its flow of control, its pointers, and what may touch memory in each block.
pub struct Body<'t> {
    /// The function.
    pub function: Rc<Function<'t>>,
    /// Its flow of control; `None` where it has no block.
    pub flow: Option<Flow>,
    /// Its pointers. Loads of one value are equal once they are judged.
    pub pointers: Pointers<'t>,
    /// By block.
    pub events: Vec<Vec<Event>>,
    /// By block, the positions of the events that may not go on to what follows them.
    ends: Vec<Vec<usize>>,
    /// By loop, the last block that all ways through a turn have in common.
    turns: Vec<usize>,
    /// The calls that yield what they read, as indices in the function.
    readers: HashSet<usize>,
    pub(super) marks: RefCell<Marks>,
    module: &'t Module<'t>,
    effects: &'t Effects<'t>,
}

impl<'t> Body<'t> {
    pub(super) fn read(
        module: &'t Module<'t>,
        (sizes, effects): (&'t Sizes, &'t Effects<'t>),
        function: u32,
    ) -> Self {
        let function = Rc::new(module.function(sizes, function));
        let event = |&at: &usize| {
            let inst = &function.instructions[at];
            match (inst.access, inst.opcode) {
                (Some(access), _) => Some(Event::Access(access)),
                (None, Opcode::Call | Opcode::Fence) => Some(Event::Other(at)),
                _ => None,
            }
        };
        let events = function.blocks.iter().map(|it| it.instructions.iter().filter_map(event));
        let events = events.map(Iterator::collect).collect();
        let flow = (!function.blocks.is_empty()).then(|| Flow::of(&function));
        let pointers = Pointers::new(&function, flow.as_ref(), effects);
        let (ends, turns, readers) = (Vec::new(), Vec::new(), HashSet::new());
        let marks = RefCell::default();
        let mut body =
            Body { function, flow, pointers, events, ends, turns, readers, marks, module, effects };
        body.find_ends();
        body
    }

    /// Returns the bytes from the start of the text to a block's first instruction after its phis.
    #[must_use]
    pub fn first_offset(&self, block: usize) -> Option<usize> {
        let instructions = self.function.blocks[block].instructions.iter();
        let mut instructions = instructions.map(|&at| &self.function.instructions[at]);
        instructions.find(|it| it.opcode != Opcode::Phi).map(|it| it.span.start)
    }

    /// Returns the bytes from the start of the text to the instruction that ends a block.
    #[must_use]
    pub fn last_offset(&self, block: usize) -> Option<usize> {
        let last = self.function.blocks[block].instructions.last()?;
        Some(self.function.instructions[*last].span.start)
    }

    fn find_ends(&mut self) {
        for events in &self.events {
            let mut ends = Vec::new();
            for (nth, &event) in events.iter().enumerate() {
                let Some(at) = self.at(event) else { continue };
                let inst = &self.function.instructions[at];
                let Some(call) = self.function.call(inst) else {
                    let is_end = match inst.opcode {
                        Opcode::Store => inst.is_volatile,
                        opcode => opcode == Opcode::Call,
                    };
                    ends.extend(is_end.then_some(nth));
                    continue;
                };
                let returns = self.effects.always_returns(&call);
                ends.extend((!returns).then_some(nth));
                let reads = self.effects.on_loads(&call) != MemoryEffects::NONE;
                if returns
                    && reads
                    && inst.result.is_some()
                    && !self.effects.of_call(&call).writes()
                {
                    self.readers.insert(at);
                }
            }
            self.ends.push(ends);
        }
        let Some(flow) = &self.flow else { return };
        for around in &flow.loops {
            let is_end = |&block: &usize| {
                let mut next = self.function.blocks[block].successors.iter();
                next.any(|&to| to == around.header || !flow.is_in(around, to))
            };
            let ends = flow.blocks_of(around).iter().copied().filter(is_end);
            let common = |mut a: usize, b: usize| {
                while !flow.dominates(a, b) {
                    a = flow.dominator(a).unwrap_or(around.header);
                }
                a
            };
            self.turns.push(ends.reduce(common).unwrap_or(around.header));
        }
    }

    /// Returns how many calls yield what they read, and change nothing.
    #[must_use]
    pub fn readers(&self) -> usize {
        self.readers.len()
    }

    /// Returns whether an event is a call that yields what it reads, and changes nothing.
    #[must_use]
    pub fn is_reader(&self, event: Event) -> bool {
        self.at(event).is_some_and(|at| self.readers.contains(&at))
    }

    /// Returns what a call does to memory that is loaded; `None` of another event.
    pub(super) fn effects_of(&self, at: usize) -> Option<MemoryEffects> {
        let call = self.function.call(&self.function.instructions[at]);
        call.map(|call| self.effects.on_loads(&call))
    }

    /// Returns whether a call writes what its arguments lead to, and no other memory.
    #[must_use]
    pub fn writes_only_arguments(&self, event: Event) -> bool {
        let effects = self.at(event).and_then(|at| self.effects_of(at));
        effects.is_some_and(|it| !it.without(MemoryLocation::Argument).writes())
    }

    fn instruction(&self, access: usize) -> &'t Instruction {
        &self.module.instructions()[access]
    }

    /// Returns the index of an event's instruction in the function.
    #[must_use]
    pub fn at(&self, event: Event) -> Option<usize> {
        match event {
            Event::Access(access) => self.function.at(self.instruction(access).offset as usize),
            Event::Other(at) => Some(at),
        }
    }

    /// Returns an event's instruction.
    #[must_use]
    pub fn inst(&self, event: Event) -> Option<&Inst> {
        Some(&self.function.instructions[self.at(event)?])
    }

    /// Returns the pointer that an access is through.
    #[must_use]
    pub fn pointer(&self, access: usize) -> Option<Value> {
        self.function.pointer(self.inst(Event::Access(access))?)
    }

    /// Returns the pointer that an access is through, and its bytes, if they are known.
    pub(super) fn place(&self, access: usize) -> Option<(Value, Option<u64>)> {
        let inst = self.inst(Event::Access(access))?;
        // A copy is as long as its argument says, which nobody reads here.
        let is_plain = matches!(inst.opcode, Opcode::Load | Opcode::Store);
        let bytes = is_plain.then(|| self.function.bytes(inst)).flatten();
        Some((self.function.pointer(inst)?, bytes))
    }

    /// Returns what a load, a store or a call that reads is to that may stand for another; `None`
    /// of volatile and atomic ones.
    pub(super) fn key(&self, event: Event) -> Option<Key<'t>> {
        let inst = self.inst(event)?;
        if self.is_reader(event) {
            let target = self.function.call(inst)?.target;
            let arguments = self.operands(event).into_iter().map(|it| self.pointers.number(it));
            return Some(Key::Call(target, arguments.collect())).filter(|_| !target.is_empty());
        }
        let instruction = self.instruction(event.access()?);
        let plain = !instruction.volatile && !instruction.atomic;
        if !plain || !matches!(inst.opcode, Opcode::Load | Opcode::Store) {
            return None;
        }
        let ty = inst.ty.map(|ty| self.function.types().opaque(ty));
        Some(Key::Place(self.pointers.address(self.function.pointer(inst)?), ty))
    }

    /// Returns the values that decide what a load or a call reads: its pointer, its arguments.
    pub(super) fn operands(&self, event: Event) -> Vec<Value> {
        let Some(inst) = self.inst(event) else { return Vec::new() };
        match self.function.call(inst) {
            Some(call) => {
                self.function.operands(inst).iter().copied().take(call.arguments.len()).collect()
            }
            None => self.function.pointer(inst).into_iter().collect(),
        }
    }

    /// Returns the accesses and calls of a loop; `None` if they are many.
    #[must_use]
    pub fn events_of(&self, flow: &Flow, around: &Loop) -> Option<Vec<Event>> {
        let blocks = flow.blocks_of(around).iter();
        let events = blocks.flat_map(|&it| &self.events[it]).take(FAR + 1).copied();
        Some(events.collect::<Vec<_>>()).filter(|events| events.len() <= FAR)
    }

    /// Returns whether a loop is left, or begun anew, only after this block of it, calls that may
    /// not return apart.
    ///
    /// LLVM: `LoopSafetyInfo::allLoopPathsLeadToBlock`.
    pub(super) fn is_in_every_turn(&self, flow: &Flow, block: usize) -> bool {
        flow.innermost_index(block).is_some_and(|it| flow.dominates(block, self.turns[it]))
    }

    /// Returns the events that may run before a place in the same turn of a loop, or anywhere in
    /// it, and after which the function may not go on.
    ///
    /// LLVM: `ICFLoopSafetyInfo`.
    pub(super) fn ways_out(&self, flow: &Flow, around: &Loop, at: Option<Point>) -> Vec<Event> {
        let in_block = |block: usize, end: usize| {
            let ends = self.ends[block].iter().take_while(move |&&it| it < end);
            ends.map(move |&it| self.events[block][it])
        };
        let Some(at) = at else {
            let blocks = flow.blocks_of(around).iter();
            return blocks.flat_map(|&it| in_block(it, usize::MAX)).collect();
        };
        let mut found: Vec<Event> = in_block(at.block, at.event).collect();
        let (mut seen, mut pending) = (self.marks.borrow_mut(), vec![at.block]);
        seen.begin(self.events.len());
        seen.insert(at.block);
        while let Some(block) = pending.pop().filter(|_| found.len() <= FAR) {
            if block == around.header {
                continue;
            }
            for before in flow.before(block).filter(|&it| flow.is_in(around, it)) {
                if seen.insert(before) {
                    found.extend(in_block(before, usize::MAX));
                    pending.push(before);
                }
            }
        }
        found
    }

    /// Returns the events before a place in its block after which the function may not go on.
    pub(super) fn ends_before(&self, at: Point) -> Vec<Event> {
        let ends = self.ends[at.block].iter().take_while(|&&it| it < at.event);
        ends.map(|&it| self.events[at.block][it]).collect()
    }

    /// Returns whether a base is a local variable in memory.
    pub(super) fn is_local_variable(&self, base: Value) -> bool {
        self.pointers.object(base) == Object::Local
    }

    /// Returns whether a local variable has nothing after an event that it had before: its life
    /// begins or ends, or a function is given its address, which it may write through. A C++
    /// function that takes constants may only read it.
    pub(super) fn renews(&self, event: Event, variable: Value) -> bool {
        let Some(at) = self.at(event) else { return false };
        let inst = &self.function.instructions[at];
        let Some(call) = self.function.call(inst) else { return false };
        let base = |value: Value| self.pointers.address(value).base;
        if call.callee.starts_with(b"llvm.") {
            let last = call.arguments.len().checked_sub(1);
            let last = last.and_then(|last| self.function.operand(inst, last));
            return call.callee.starts_with(b"llvm.lifetime.")
                && last.is_some_and(|it| base(it) == variable);
        }
        let has = |word: &[u8]| memchr::memmem::find(call.callee, word).is_some();
        let may_read = call.callee.starts_with(b"_Z") && (has(b"RK") || has(b"PK"));
        !may_read && self.pointers.arguments(at, false).into_iter().any(|it| base(it) == variable)
    }
}

//! Reads a function's control flow, pointers and events (instructions that may touch memory).

use std::{cell::RefCell, collections::HashSet, rc::Rc};

use tbaa_ir::{
    Address, Block, Effects, Flow, Function, Inst, Instruction, Loop, MemoryEffects,
    MemoryLocation, Module, Object, Opcode, Pointers, Sizes, Value,
};
use tbaa_types::Type;

use super::ways::{Marks, Point};

/// The largest number of events in a loop. The events of larger loops are not examined.
const FAR: usize = 4096;

/// An instruction that may read or write memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Event {
    /// An access: its index in the module's instructions.
    Access(usize),
    /// Any other call or fence: its index in the function's instructions.
    Other(usize),
}

impl Event {
    /// Returns the index in the module's instructions, if the event is an access.
    pub fn access(self) -> Option<usize> {
        match self {
            Event::Access(index) => Some(index),
            Event::Other(_) => None,
        }
    }
}

/// Identifies what an event reads or writes: an address and type, or a callee and its arguments.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Key<'t> {
    Place(Address, Option<Type>),
    /// The callee, the type of the result, and the value numbers of all operands.
    Call(&'t [u8], Option<Type>, Vec<Value>),
}

/// A function with its control flow, its pointers, and the events of each block.
pub struct Body<'t> {
    /// The function.
    pub function: Rc<Function<'t>>,
    /// The control flow; `None` if the function has no block.
    pub flow: Option<Flow>,
    /// The function's pointers.
    pub pointers: Pointers<'t>,
    /// The events of each block.
    pub events: Vec<Vec<Event>>,
    /// For each block, the indices of its events after which execution might not continue.
    ends: Vec<Vec<usize>>,
    /// For each loop, the last block that every iteration runs: the nearest common dominator of the
    /// blocks that branch to the header or out of the loop.
    turns: Vec<usize>,
    /// The calls that [`Body::is_reader`] accepts, as indices in the instructions of `function`.
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
                (None, Opcode::Call | Opcode::Fence | Opcode::CatchPad | Opcode::CatchRet) => {
                    Some(Event::Other(at))
                }
                _ => None,
            }
        };
        let of_block = |block: &Block<'_>| block.instructions.iter().filter_map(event).collect();
        let events = function.blocks.iter().map(of_block).collect();
        let flow = (!function.blocks.is_empty()).then(|| Flow::of(&function));
        let pointers = Pointers::new(&function, flow.as_ref(), effects);
        let (ends, turns, readers) = (Vec::new(), Vec::new(), HashSet::new());
        let marks = RefCell::default();
        let mut body =
            Body { function, flow, pointers, events, ends, turns, readers, marks, module, effects };
        body.find_ends();
        body
    }

    /// Returns where a block's first instruction after its phis begins in the module's text.
    pub fn first_offset(&self, block: usize) -> Option<usize> {
        let instructions = self.function.blocks[block].instructions.iter();
        let mut instructions = instructions.map(|&at| &self.function.instructions[at]);
        Some(instructions.find(|inst| inst.opcode != Opcode::Phi)?.span.start)
    }

    /// Returns where the last instruction of a block begins in the module's text.
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
                let writes = self.effects.of_call(&call).writes();
                let is_fixed = writes || self.effects.is_convergent(&call);
                if returns && reads && !is_fixed && inst.result.is_some() {
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

    /// Returns the number of calls that always return a result, read memory, and write none.
    pub fn readers(&self) -> usize {
        self.readers.len()
    }

    /// Returns whether an event is one of the calls that [`Body::readers`] counts.
    pub fn is_reader(&self, event: Event) -> bool {
        self.at(event).is_some_and(|at| self.readers.contains(&at))
    }

    /// Returns a call's effects on memory that loads may read; `None` if `at` is no call.
    pub(super) fn effects_of(&self, at: usize) -> Option<MemoryEffects> {
        let call = self.function.call(&self.function.instructions[at]);
        call.map(|call| self.effects.on_loads(&call))
    }

    /// Returns whether an event is a call that writes no memory except through its arguments.
    pub fn writes_only_arguments(&self, event: Event) -> bool {
        let effects = self.at(event).and_then(|at| self.effects_of(at));
        effects.is_some_and(|effect| !effect.without(MemoryLocation::Argument).writes())
    }

    fn instruction(&self, access: usize) -> &'t Instruction {
        &self.module.instructions()[access]
    }

    /// Returns the index of an event's instruction in the function.
    pub fn at(&self, event: Event) -> Option<usize> {
        match event {
            Event::Access(access) => self.function.at(self.instruction(access).offset as usize),
            Event::Other(at) => Some(at),
        }
    }

    /// Returns an event's instruction.
    pub fn inst(&self, event: Event) -> Option<&Inst> {
        Some(&self.function.instructions[self.at(event)?])
    }

    /// Returns an access's pointer.
    pub fn pointer(&self, access: usize) -> Option<Value> {
        self.function.pointer(self.inst(Event::Access(access))?)
    }

    /// Returns the source of `llvm.memcpy` or `llvm.memmove`.
    pub(super) fn source(&self, access: usize) -> Option<Value> {
        let inst = self.inst(Event::Access(access))?;
        let callee = self.function.call(inst)?.callee;
        let copies = [&b"llvm.memcpy"[..], b"llvm.memmove"];
        let is_copy = copies.iter().any(|copy| callee.starts_with(copy));
        self.function.operand(inst, 1).filter(|_| is_copy)
    }

    /// Returns whether the text states that an access is aligned to its size.
    pub(super) fn is_aligned(&self, access: usize) -> bool {
        let align = self.inst(Event::Access(access)).and_then(|inst| {
            let text = str::from_utf8(self.function.text_of(inst)).ok()?;
            let digits = text.rsplit_once(", align ")?.1.split(|c: char| !c.is_ascii_digit());
            digits.into_iter().next()?.parse::<u64>().ok()
        });
        align
            .zip(self.place(access))
            .is_some_and(|(align, (_, bytes))| bytes.is_some_and(|bytes| align >= bytes))
    }

    /// Returns an access's pointer, and the number of bytes if it is known.
    pub(super) fn place(&self, access: usize) -> Option<(Value, Option<u64>)> {
        let inst = self.inst(Event::Access(access))?;
        // A copy's length is one of its arguments, which is not read here.
        let is_plain = matches!(inst.opcode, Opcode::Load | Opcode::Store);
        let bytes = is_plain.then(|| self.function.bytes(inst)).flatten();
        Some((self.function.pointer(inst)?, bytes))
    }

    /// Returns the key of a load or store that is neither volatile nor atomic, or of a call that
    /// [`Body::is_reader`] accepts and whose callee is written `@f` or `%f`; else `None`.
    pub(super) fn key(&self, event: Event) -> Option<Key<'t>> {
        let inst = self.inst(event)?;
        if self.is_reader(event) {
            let target = Some(self.function.call(inst)?.target).filter(|name| !name.is_empty())?;
            let operands = self.function.operands(inst).iter();
            let operands = operands.map(|&operand| self.pointers.number(operand)).collect();
            return Some(Key::Call(target, inst.ty, operands));
        }
        let instruction = self.instruction(event.access()?);
        let plain = !instruction.volatile && !instruction.atomic;
        if !plain || !matches!(inst.opcode, Opcode::Load | Opcode::Store) {
            return None;
        }
        let ty = inst.ty.map(|ty| self.function.types().opaque(ty));
        Some(Key::Place(self.pointers.address(self.function.pointer(inst)?), ty))
    }

    /// Returns the pointer of a load or store, or the arguments of a call.
    pub(super) fn operands(&self, event: Event) -> Vec<Value> {
        let Some(inst) = self.inst(event) else { return Vec::new() };
        let operands = self.function.operands(inst).iter().copied();
        match self.function.call(inst) {
            Some(call) => operands.take(call.arguments.len()).collect(),
            None => self.function.pointer(inst).into_iter().collect(),
        }
    }

    /// Returns the events of a loop; `None` if there are more than `FAR`.
    pub fn events_of(&self, flow: &Flow, around: &Loop) -> Option<Vec<Event>> {
        let blocks = flow.blocks_of(around).iter();
        let events = blocks.flat_map(|&block| &self.events[block]).take(FAR + 1).copied();
        Some(events.collect::<Vec<_>>()).filter(|events| events.len() <= FAR)
    }

    /// Returns whether a block runs in every iteration of its innermost loop (must-execute), if all
    /// calls return. False outside loops. LLVM: `LoopSafetyInfo::allLoopPathsLeadToBlock`.
    pub(super) fn is_in_every_turn(&self, flow: &Flow, block: usize) -> bool {
        flow.innermost_index(block).is_some_and(|at| flow.dominates(block, self.turns[at]))
    }

    /// Returns the events of a loop after which execution might not continue. If `at` is given,
    /// these are only events that may run before `at` in one iteration. LLVM: `ICFLoopSafetyInfo`.
    pub(super) fn ways_out(&self, flow: &Flow, around: &Loop, at: Option<Point>) -> Vec<Event> {
        let Some(at) = at else {
            let blocks = flow.blocks_of(around).iter();
            return blocks.flat_map(|&block| self.ends_in(block, usize::MAX)).collect();
        };
        let mut found: Vec<Event> = self.ends_in(at.block, at.event).collect();
        let (mut seen, mut pending) = (self.marks.borrow_mut(), vec![at.block]);
        seen.begin(self.events.len());
        seen.insert(at.block);
        while let Some(block) = pending.pop().filter(|_| found.len() <= FAR) {
            if block == around.header {
                continue;
            }
            for before in flow.before(block).filter(|&before| flow.is_in(around, before)) {
                if seen.insert(before) {
                    found.extend(self.ends_in(before, usize::MAX));
                    pending.push(before);
                }
            }
        }
        found
    }

    /// Returns those of the first `end` events of a block after which execution might not continue.
    pub(super) fn ends_in(&self, block: usize, end: usize) -> impl Iterator<Item = Event> {
        let ends = self.ends[block].iter().take_while(move |&&at| at < end);
        ends.map(move |&at| self.events[block][at])
    }

    pub(super) fn is_local_variable(&self, base: Value) -> bool {
        self.pointers.object(base) == Object::Local
    }

    /// Returns whether an event begins or ends the lifetime of `variable` (a local variable), or
    /// passes the variable's address to a function that may write it. Intrinsics, and C++ functions
    /// with a pointer or reference to `const` in the mangled name, count as not writing.
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
        let mut arguments = self.pointers.arguments(at, false).into_iter();
        !may_read && arguments.any(|argument| base(argument) == variable)
    }
}

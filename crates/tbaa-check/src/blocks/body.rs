//! A function as the judge reads it: what in its blocks may touch memory.

use std::rc::Rc;

use tbaa_ir::{
    Address, Effects, Flow, Function, Inst, Instruction, Loop, Module, Object, Opcode, Pointers,
    Sizes, Value,
};
use tbaa_types::Type;

use super::ways::FAR;

/// Something that may read or write memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
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

/// What a load or store is to. Two of equal keys touch the same bytes where both run.
pub(super) type Key = (Address, Option<Type>);

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
        Body { function, flow, pointers, events, module, effects }
    }

    pub(super) fn effects(&self) -> &'t Effects<'t> {
        self.effects
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

    /// Returns what a load or store is to that may stand for another; `None` of volatile and
    /// atomic ones.
    pub(super) fn key(&self, event: Event) -> Option<Key> {
        let Event::Access(access) = event else { return None };
        let instruction = self.instruction(access);
        let plain = !instruction.volatile && !instruction.atomic;
        let inst = self
            .inst(event)
            .filter(|it| plain && matches!(it.opcode, Opcode::Load | Opcode::Store))?;
        let ty = inst.ty.map(|ty| self.function.types().opaque(ty));
        Some((self.pointers.address(self.function.pointer(inst)?), ty))
    }

    /// Returns the accesses and calls of a loop; `None` if they are many.
    #[must_use]
    pub fn events_of(&self, around: &Loop) -> Option<Vec<Event>> {
        let blocks = self.events.iter().zip(&around.contains).filter(|&(_, &within)| within);
        let events = blocks.flat_map(|(events, _)| events).take(FAR + 1).copied();
        Some(events.collect::<Vec<_>>()).filter(|events| events.len() <= FAR)
    }

    /// Returns whether a loop is left, or begun anew, only after this block of it.
    ///
    /// LLVM: `SimpleLoopSafetyInfo::isGuaranteedToExecute`.
    pub(super) fn is_in_every_turn(&self, flow: &Flow, around: &Loop, block: usize) -> bool {
        let mut ends = (0..self.function.blocks.len()).filter(|&it| {
            let mut next = self.function.blocks[it].successors.iter();
            around.contains[it] && next.any(|&to| to == around.header || !around.contains[to])
        });
        ends.all(|end| flow.dominates(block, end))
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

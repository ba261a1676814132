//! What a function's accesses are to, in the order in which a block makes them.
//!
//! Two accesses are known to be of one place where their pointers have one address. A pointer
//! that is loaded twice is one value if nothing between the loads may have changed it, which is
//! what an optimizer makes of it too: front ends reload at will. That holds within one block,
//! which runs from beginning to end.

use std::rc::Rc;

use tbaa::Oracle;
use tbaa::parts::table::HashMap;
use tbaa::{Graph, TagId};
use tbaa_ir::{
    Address, Def, Effects, Flow, Function, Inst, Module, Object, Opcode, Pointers, Value,
};
use tbaa_types::{Type, TypeKind};

/// Loaded pointers that are remembered at a time, each of which every store
/// must be compared with.
const LOADED: usize = 32;

/// A place in memory, as far as a function's text tells places apart. Equal
/// ones are one place, different ones may be too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Pointee {
    number: usize,
    /// The stack slot that it is in, if it is known to be in one. Different ones are apart.
    pub(super) slot: Option<Value>,
}

/// What a function does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A block begins, or memory changes in a way that no tag tells.
    Barrier,
    /// The lifetime of a slot begins or ends: what it held is gone.
    Fresh(Value),
    /// An access, by its index into the module's instructions.
    Access(usize, Option<Pointee>),
}

/// A member of a struct, by the struct's LLVM type and the indices that lead to it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Member {
    pub(super) ty: Type,
    /// The first member of the first member is at the place of the whole: indices that are 0
    /// are left out at the end.
    pub(super) indices: Vec<i64>,
}

/// Reads the events of functions.
pub(super) struct Functions<'a> {
    module: &'a Module<'a>,
    oracle: &'a Oracle<&'a Graph>,
    effects: &'a Effects<'a>,
    /// Whether members are looked for.
    with_members: bool,
}

/// What is read of a function.
#[derive(Default)]
pub(super) struct Read {
    pub(super) events: Vec<Event>,
    /// The members that are accessed, by the access's index into the module's instructions.
    pub(super) members: HashMap<usize, Member>,
}

/// What is known while a function is read.
struct Known<'t> {
    function: Rc<Function<'t>>,
    pointers: Pointers<'t>,
    places: HashMap<Address, usize>,
    /// What memory is known to hold: a place, the tag under which it was
    /// accessed, and the pointer there.
    loaded: Vec<(Pointee, Option<TagId>, Value)>,
    read: Read,
}

impl<'a> Functions<'a> {
    pub(super) fn new(
        module: &'a Module<'a>,
        oracle: &'a Oracle<&'a Graph>,
        effects: &'a Effects<'a>,
        with_members: bool,
    ) -> Self {
        Functions { module, oracle, effects, with_members }
    }

    pub(super) fn read(&self, function: &Rc<Function<'a>>) -> Read {
        if function.blocks.is_empty() {
            return Read::default();
        }
        let pointers = Pointers::new(function, Some(&Flow::of(function)), self.effects);
        let mut known = Known {
            function: Rc::clone(function),
            pointers,
            places: HashMap::default(),
            loaded: Vec::new(),
            read: Read::default(),
        };
        for block in &function.blocks {
            known.change(Event::Barrier);
            for &at in &block.instructions {
                let inst = &function.instructions[at];
                match inst.access {
                    Some(index) => {
                        if self.with_members
                            && let Some(member) =
                                function.pointer(inst).and_then(|it| member(function, it))
                        {
                            known.read.members.insert(index, member);
                        }
                        known.access(self, inst, index);
                    }
                    None => known.other(self.effects, inst),
                }
            }
        }
        known.read
    }
}

/// The member that a pointer is the address of, as its last step says.
fn member(function: &Function<'_>, pointer: Value) -> Option<Member> {
    let whole = |ty: Type| function.is_struct(ty).then(|| Member { ty, indices: Vec::new() });
    let inst = function.inst(pointer)?;
    let operands = function.operands(inst);
    match inst.opcode {
        Opcode::GetElementPtr => {
            let mut member = whole(inst.ty?)?;
            for &index in operands.get(2..)? {
                // An index that is a variable is one of an array, whose elements differ.
                let Def::Integer(index) = function.def(index) else { return None };
                member.indices.push(index);
            }
            let used = member.indices.iter().rposition(|&it| it != 0).map_or(0, |at| at + 1);
            member.indices.truncate(used);
            Some(member)
        }
        Opcode::BitCast => {
            let &operand = operands.first()?;
            let pointee = |kind: TypeKind<'_>| match kind {
                TypeKind::Pointer { pointee, .. } => pointee,
                _ => None,
            };
            let of_type = || whole(function.types().with_kind(function.ty(operand)?, pointee)?);
            member(function, operand).or_else(of_type)
        }
        Opcode::Alloca => whole(inst.ty?),
        _ => None,
    }
}

impl<'t> Known<'t> {
    fn access(&mut self, functions: &Functions<'_>, inst: &Inst, index: usize) {
        let function = Rc::clone(&self.function);
        let instruction = &functions.module.instructions()[index];
        if !matches!(instruction.opcode, Opcode::Load | Opcode::Store) {
            self.change(Event::Barrier);
            self.read.events.push(Event::Access(index, None));
            return;
        }
        // What is accessed through `undef` is nothing, each time another.
        let pointer = function.pointer(inst).filter(|&it| function.def(it) != Def::Undefined);
        let place = pointer.map(|it| self.place_of(it));
        self.read.events.push(Event::Access(index, place));
        let is_pointer = inst.ty.is_some_and(|ty| function.types().is_pointer(ty));
        let is_plain = is_pointer && !instruction.volatile;
        let Some(place) = place else {
            if instruction.opcode == Opcode::Store {
                self.loaded.clear();
            }
            return;
        };
        if instruction.opcode == Opcode::Load {
            if let Some(result) = inst.result.filter(|_| is_plain) {
                match self.loaded.iter().find(|(known, ..)| *known == place) {
                    Some(&(_, _, value)) => self.pointers.equate(result, value),
                    None => self.remember(place, instruction.tag, result),
                }
            }
            return;
        }
        self.loaded.retain(|&(known, tag, _)| {
            let apart = |(stored, tag)| !functions.oracle.may_alias(stored, tag);
            let other_slot = known.slot.zip(place.slot).is_some_and(|(known, it)| known != it);
            other_slot || known != place && instruction.tag.zip(tag).is_some_and(apart)
        });
        if let Some(value) = function.stored(inst).filter(|_| is_plain) {
            self.remember(place, instruction.tag, value);
        }
    }

    fn remember(&mut self, place: Pointee, tag: Option<TagId>, value: Value) {
        if self.loaded.len() == LOADED {
            self.loaded.remove(0);
        }
        self.loaded.push((place, tag, value));
    }

    /// Forgets what memory holds.
    fn change(&mut self, event: Event) {
        self.loaded.clear();
        self.read.events.push(event);
    }

    /// An instruction that is no access.
    fn other(&mut self, effects: &Effects<'_>, inst: &Inst) {
        match inst.opcode {
            Opcode::Fence => self.change(Event::Barrier),
            Opcode::Call => {
                let Some(call) = self.function.call(inst) else {
                    return self.change(Event::Barrier);
                };
                if call.callee.starts_with(b"llvm.lifetime.") {
                    // Before LLVM 22 the size comes first.
                    let last = call.arguments.len().checked_sub(1);
                    let slot = last.and_then(|last| self.function.operand(inst, last));
                    match slot.and_then(|it| self.place_of(it).slot) {
                        Some(slot) => {
                            self.loaded.retain(|(known, ..)| known.slot != Some(slot));
                            self.read.events.push(Event::Fresh(slot));
                        }
                        None => self.change(Event::Barrier),
                    }
                } else if effects.on_loads(&call).writes() {
                    self.change(Event::Barrier);
                }
            }
            _ => {}
        }
    }

    fn place_of(&mut self, pointer: Value) -> Pointee {
        let address = self.pointers.address(pointer);
        let is_slot = self.pointers.object(address.base) == Object::Local;
        let slot = is_slot.then_some(address.base);
        let next = self.places.len();
        Pointee { number: *self.places.entry(address).or_insert(next), slot }
    }
}

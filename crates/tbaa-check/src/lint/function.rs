//! Reads the memory events of a function, in block order, with the [`Place`] of each access.
//!
//! Front ends load the same pointer again and again. Two loads from one address give the same value
//! if nothing in between may change the memory. Accesses through these values are to one place.
//!
//! The events of a small function replace calls of it, up to a nesting depth.

use std::{cell::RefCell, rc::Rc};

use tbaa::parts::table::HashMap;
use tbaa::{Graph, Oracle, TagId};
use tbaa_ir::{
    Address, Call, Def, Effects, Flow, Function, Inst, Module, Object, Opcode, Pointers, Sizes,
    Value,
};
use tbaa_types::{Type, TypeKind};

/// The largest number of known memory contents at one point. Every store is compared with all.
const LOADED: usize = 32;

/// The largest total of known memory contents at the ends of a function's blocks.
const REMEMBERED: usize = 1 << 20;

/// The largest number of instructions in a small function.
const SMALL: usize = 64;

/// The nesting depth of calls at which no further small function is read.
const NESTED: usize = 3;

/// A place in memory: bytes at a fixed offset from a base.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The index of the base: the address without its offset.
    pub(super) base: usize,
    pub(super) offset: i64,
    bytes: Option<u64>,
    /// The access's pointer. For an access in a callee: the argument that its pointer is based on.
    pub(super) pointer: Value,
    /// The stack slot that contains the place, if known. Different slots do not overlap.
    pub(super) slot: Option<Value>,
}

impl Place {
    /// Returns whether two places certainly begin at the same byte.
    pub(super) fn begins_at(&self, other: &Place) -> bool {
        (self.base, self.offset) == (other.base, other.offset)
    }

    /// Returns whether two places share a byte; `None` if unknown.
    pub(super) fn meets(&self, other: &Place) -> Option<bool> {
        if self.base != other.base {
            return None;
        }
        // Addresses wrap.
        let before =
            |a: &Place, b: &Place| Some((b.offset.wrapping_sub(a.offset) as u64) < a.bytes?);
        Some(self.begins_at(other) || before(self, other)? || before(other, self)?)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// The access's index in the module's instructions.
    pub(super) index: usize,
    /// True for a write; false for a read, and for `cmpxchg`, which may store nothing.
    pub(super) stores: bool,
    pub(super) place: Option<Place>,
    /// The mask of a masked access: it selects the elements that are accessed.
    pub(super) mask: Option<Value>,
}

/// An action that reads memory or may change memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// Memory may change in ways that tags do not describe: by the call with this index in the
    /// function, or (`None`) by anything.
    Change(Option<usize>),
    /// The lifetime of a stack slot begins or ends, so its contents are lost.
    Fresh(Value),
    Access(Access),
}

/// A member of a struct, given by the struct's LLVM type and the indices that lead to the member.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Member {
    pub(super) ty: Type,
    /// Trailing zeros are removed, because a member and its own first member have the same address.
    pub(super) indices: Vec<i64>,
}

pub(super) struct Functions<'a> {
    module: &'a Module<'a>,
    oracle: &'a Oracle<&'a Graph>,
    effects: &'a Effects<'a>,
    sizes: &'a Sizes,
    with_members: bool,
    numbers: HashMap<&'a [u8], u32>,
    /// The events of small functions, by function number; `None` for functions that are not small
    /// or are being read.
    small: RefCell<HashMap<u32, Option<Rc<Small>>>>,
}

/// The events that a small function runs on every call. If the function branches before it
/// returns, a final `Change` stands for the events after the branch.
struct Small {
    events: Vec<Event>,
    /// For each [`Place::base`] in `events`, its meaning for the caller.
    bases: Vec<Base>,
}

#[derive(Clone, Copy)]
enum Base {
    Parameter(usize),
    /// A stack slot of the small function itself.
    Own,
    Other,
}

/// A function, its control flow and pointers, and the events of each block.
pub(super) struct Read<'t> {
    pub(super) function: Rc<Function<'t>>,
    pub(super) flow: Flow,
    pub(super) pointers: Pointers<'t>,
    pub(super) blocks: Vec<Vec<Event>>,
    /// The accessed members, by the access's index in the module's instructions.
    pub(super) members: HashMap<usize, Member>,
}

/// Known contents of memory: a place, the tag of the access, and the pointer that the place holds.
type Loaded = (Place, Option<TagId>, Value);

struct Known<'t, 'f> {
    functions: &'f Functions<'t>,
    read: Read<'t>,
    bases: HashMap<Address, usize>,
    /// The contents known after the last instruction that was read.
    loaded: Vec<Loaded>,
    /// The contents known at the end of each block; `None` for a block that is not read yet.
    ends: Vec<Option<Vec<Loaded>>>,
    /// The nesting depth of calls; 0 in [`Functions::read`].
    depth: usize,
}

impl<'a> Functions<'a> {
    pub(super) fn new(
        module: &'a Module<'a>,
        sizes: &'a Sizes,
        oracle: &'a Oracle<&'a Graph>,
        effects: &'a Effects<'a>,
        with_members: bool,
    ) -> Self {
        let numbers = module.functions().zip(0..).collect();
        let small = RefCell::default();
        Functions { module, oracle, effects, sizes, with_members, numbers, small }
    }

    /// Reads a function; `None` if it has no block.
    pub(super) fn read(&self, function: &Rc<Function<'a>>) -> Option<Read<'a>> {
        (!function.blocks.is_empty()).then(|| self.known(function, 0).read)
    }

    fn known(&self, function: &Rc<Function<'a>>, depth: usize) -> Known<'a, '_> {
        let flow = Flow::without_loops(function.blocks.iter().map(|block| &block.successors[..]));
        let read = Read {
            function: Rc::clone(function),
            pointers: Pointers::new(function, Some(&flow), self.effects),
            flow,
            blocks: Vec::new(),
            members: HashMap::default(),
        };
        let ends = vec![None; function.blocks.len()];
        let (bases, loaded) = (HashMap::default(), Vec::new());
        let mut known = Known { functions: self, read, bases, loaded, ends, depth };
        let mut kept = 0;
        for (number, block) in function.blocks.iter().enumerate() {
            known.enter(number);
            for &at in &block.instructions {
                known.instruction(at);
            }
            let mut end = std::mem::take(&mut known.loaded);
            kept += end.len();
            end.truncate(if kept > REMEMBERED { 0 } else { LOADED });
            known.ends[number] = Some(end);
        }
        known
    }

    /// Returns the called function's events; `None` if the function is not small, is being read, or
    /// is nested too deep.
    fn small(&self, call: &Call<'a>, depth: usize) -> Option<Rc<Small>> {
        let number = *self.numbers.get(&*call.name())?;
        if let Some(known) = self.small.borrow().get(&number) {
            return known.clone();
        }
        if depth == NESTED {
            return None;
        }
        // Prevents endless recursion: while a function is read, calls of it are not replaced.
        self.small.borrow_mut().insert(number, None);
        let function = Rc::new(self.module.function(self.sizes, number));
        let small = is_small(&function).then(|| {
            let known = self.known(&function, depth + 1);
            let mut bases = vec![Base::Other; known.bases.len()];
            for (address, at) in known.bases {
                bases[at] = match function.def(address.base) {
                    _ if known.read.pointers.object(address.base) == Object::Local => Base::Own,
                    Def::Parameter(nth) if address.terms.is_empty() && !is_copy(&function, nth) => {
                        Base::Parameter(nth)
                    }
                    _ => Base::Other,
                };
            }
            let (mut events, mut block) = (Vec::new(), 0);
            for _ in &function.blocks {
                events.extend(&known.read.blocks[block]);
                let last = function.blocks[block].instructions.last();
                let last = last.map(|&last| function.instructions[last].opcode);
                match function.blocks[block].successors[..] {
                    [next] => block = next,
                    [] if last == Some(Opcode::Ret) => return Rc::new(Small { events, bases }),
                    _ => break,
                }
            }
            // It is not known here which blocks run after a branch.
            events.push(Event::Change(None));
            Rc::new(Small { events, bases })
        });
        self.small.borrow_mut().insert(number, small.clone());
        small
    }
}

/// Returns whether a function has a body of few instructions, and is not `weak` or `linkonce`.
fn is_small(function: &Function<'_>) -> bool {
    let words = function.header.text.split(u8::is_ascii_whitespace);
    let mut words = words.take_while(|word| !word.contains(&b'@'));
    !function.blocks.is_empty()
        && function.instructions.len() <= SMALL
        && !words.any(|word| matches!(word, b"weak" | b"linkonce"))
}

/// Returns whether a parameter points to a copy of the caller's object.
fn is_copy(function: &Function<'_>, parameter: usize) -> bool {
    let mut words = function.header.parameters[parameter].words();
    words.any(|word| matches!(word, b"byval" | b"inalloca" | b"preallocated"))
}

/// Returns the struct member that a pointer's last address computation selects.
fn member(function: &Function<'_>, pointer: Value) -> Option<Member> {
    let whole = |ty| function.types().is_struct(ty).then(|| Member { ty, indices: Vec::new() });
    let inst = function.inst(pointer)?;
    let operands = function.operands(inst);
    match inst.opcode {
        Opcode::GetElementPtr => {
            let mut member = whole(inst.ty?)?;
            for &index in operands.get(2..)? {
                // A variable index selects an element of an array, and elements differ.
                let Def::Integer(index) = function.def(index) else { return None };
                member.indices.push(index);
            }
            while member.indices.pop_if(|index| *index == 0).is_some() {}
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

impl<'t> Known<'t, '_> {
    /// Begins a block with the memory contents that all its predecessors agree on.
    fn enter(&mut self, block: usize) {
        self.read.blocks.push(Vec::new());
        let mut before = self.read.flow.before(block).map(|before| self.ends[before].as_ref());
        let Some(Some(first)) = before.next() else { return };
        let mut loaded = first.clone();
        for end in before {
            let Some(end) = end else { return };
            loaded.retain(|a| end.iter().any(|b| a.0.begins_at(&b.0) && (a.1, a.2) == (b.1, b.2)));
        }
        self.loaded = loaded;
    }

    fn instruction(&mut self, at: usize) {
        let function = Rc::clone(&self.read.function);
        let inst = &function.instructions[at];
        if let Some(index) = inst.access {
            let pointer = function.pointer(inst).filter(|_| self.functions.with_members);
            let member = pointer.and_then(|pointer| member(&function, pointer));
            self.read.members.extend(member.map(|member| (index, member)));
            if inst.opcode != Opcode::Call {
                return self.access(inst, index);
            }
        }
        match inst.opcode {
            Opcode::Fence => self.change(None),
            Opcode::Call => match function.call(inst) {
                Some(call) => self.call(at, inst, &call),
                None => self.change(None),
            },
            _ => {}
        }
    }

    fn access(&mut self, inst: &Inst, index: usize) {
        let function = Rc::clone(&self.read.function);
        let instruction = &self.functions.module.instructions()[index];
        let is_read = instruction.opcode == Opcode::Load;
        // A volatile store may make a device change memory. An atomic access may make writes of
        // other threads visible.
        if instruction.atomic || instruction.volatile && !is_read {
            self.change(None);
        }
        let ty = match instruction.opcode {
            Opcode::Load | Opcode::Store => inst.ty,
            Opcode::CmpXchg | Opcode::AtomicRmw => {
                function.operand(inst, 1).and_then(|operand| function.ty(operand))
            }
            _ => return self.change(None),
        };
        // `undef` may be a different pointer at each use.
        let pointer = function.pointer(inst).filter(|&at| function.def(at) != Def::Undefined);
        let place = pointer.map(|pointer| self.place_of(pointer, self.bytes_of(ty)));
        // A compare-exchange may fail, and then stores nothing.
        let stores = matches!(instruction.opcode, Opcode::Store | Opcode::AtomicRmw);
        self.push(Access { index, stores, place, mask: None });
        let is_pointer = ty.is_some_and(|ty| function.types().is_pointer(ty));
        let Some(place) = place.filter(|_| is_pointer && !instruction.volatile) else { return };
        if let Some(value) = function.stored(inst) {
            self.remember(place, instruction.tag, value);
        } else if let Some(result) = inst.result.filter(|_| is_read) {
            match self.loaded.iter().find(|(known, ..)| known.begins_at(&place)) {
                Some(&(_, _, value)) => self.read.pointers.equate(result, value),
                None => self.remember(place, instruction.tag, result),
            }
        }
    }

    fn bytes_of(&self, ty: Option<Type>) -> Option<u64> {
        Some(self.functions.sizes.fixed_size(ty?)?.store)
    }

    /// Adds an access, and forgets the contents that it may change.
    fn push(&mut self, access: Access) {
        if access.stores {
            let tag = self.functions.module.instructions()[access.index].tag;
            let oracle = self.functions.oracle;
            self.loaded.retain(|(known, of_known, _)| {
                let Some(place) = &access.place else { return false };
                let apart = |(stored, tag)| !oracle.may_alias(stored, tag);
                let other_slot = known.slot.zip(place.slot).is_some_and(|(known, it)| known != it);
                let meets = known.meets(place);
                other_slot
                    || meets == Some(false)
                    || meets.is_none() && tag.zip(*of_known).is_some_and(apart)
            });
        }
        self.add(Event::Access(access));
    }

    fn add(&mut self, event: Event) {
        self.read.blocks.last_mut().expect("a block is entered first").push(event);
    }

    fn remember(&mut self, place: Place, tag: Option<TagId>, value: Value) {
        if self.loaded.len() == LOADED {
            self.loaded.remove(0);
        }
        self.loaded.push((place, tag, self.read.pointers.number(value)));
    }

    fn change(&mut self, call: Option<usize>) {
        let pointers = &self.read.pointers;
        self.loaded.retain(|(known, ..)| {
            let out_of_reach = |at| pointers.is_out_of_reach(known.pointer, at, false, false);
            known.slot.is_some() && call.is_some_and(out_of_reach)
        });
        self.add(Event::Change(call));
    }

    fn call(&mut self, at: usize, inst: &Inst, call: &Call<'t>) {
        if call.callee.starts_with(b"llvm.lifetime.") {
            // The pointer is the last argument. Before LLVM 22, the size is the first argument.
            let last = call.arguments.len().checked_sub(1);
            let slot = last.and_then(|last| self.read.function.operand(inst, last));
            match slot.and_then(|slot| self.place_of(slot, None).slot) {
                Some(slot) => {
                    self.loaded.retain(|(known, ..)| known.slot != Some(slot));
                    self.add(Event::Fresh(slot));
                }
                None => self.change(None),
            }
        } else if let Some(accesses) = self.tagged(inst, call) {
            accesses.into_iter().for_each(|access| self.push(access));
        } else if let Some(small) = self.functions.small(call, self.depth) {
            self.look_into(at, inst, call, &small);
        } else if self.functions.effects.on_loads(call).writes() {
            self.change(Some(at));
        }
    }

    /// Returns the accesses of a tagged masked load or store, `memset`, `memcpy` or `memmove`.
    fn tagged(&mut self, inst: &Inst, call: &Call<'_>) -> Option<Vec<Access>> {
        let function = Rc::clone(&self.read.function);
        let index = inst.access?;
        self.functions.module.instructions()[index].tag?;
        let (operands, count) = (function.operands(inst), call.arguments.len());
        let is = |name: &[u8]| call.callee.starts_with(name);
        let stores = is(b"llvm.masked.store.");
        if stores || is(b"llvm.masked.load.") {
            let (pointer, after_mask) = if stores { (1, 1) } else { (0, 2) };
            let ty = if stores { function.ty(*operands.first()?) } else { inst.ty };
            let place = Some(self.place_of(*operands.get(pointer)?, self.bytes_of(ty)));
            let mask = *operands.get(count.checked_sub(after_mask)?)?;
            let mask = Some(self.read.pointers.number(mask));
            return Some(vec![Access { index, stores, place, mask }]);
        }
        let is_plain = call.arguments.get(3).is_some_and(|argument| argument.value == b"false");
        let &[to, from, bytes, ..] = operands else { return None };
        let Def::Integer(bytes @ 1..) = function.def(bytes) else { return None };
        let of = [&b"llvm.memset."[..], b"llvm.memcpy.", b"llvm.memmove."].into_iter().position(is);
        let is_copy = of.filter(|_| is_plain && inst.is_transfer)? > 0;
        let bytes = u64::try_from(bytes).ok();
        let mut access = |stores, pointer| {
            let place = Some(self.place_of(pointer, bytes));
            Access { index, stores, place, mask: None }
        };
        let read = is_copy.then(|| access(false, from));
        Some(read.into_iter().chain([access(true, to)]).collect())
    }

    fn look_into(&mut self, at: usize, inst: &Inst, call: &Call<'_>, small: &Small) {
        let function = Rc::clone(&self.read.function);
        let arguments = &function.operands(inst)[..call.arguments.len()];
        for &event in &small.events {
            match event {
                Event::Change(_) => self.change(Some(at)),
                // The caller has no pointer to the callee's slot.
                Event::Fresh(_) => {}
                Event::Access(mut access) => {
                    let base = access.place.map_or(Base::Other, |place| small.bases[place.base]);
                    access.place = match (base, access.place) {
                        (Base::Own, _) => continue,
                        (Base::Parameter(nth), Some(place)) => {
                            let argument = arguments.get(nth).copied();
                            let pointer = argument.filter(|&it| function.is_pointer(it));
                            pointer.and_then(|argument| {
                                let own = self.place_of(argument, place.bytes);
                                let offset = own.offset.checked_add(place.offset)?;
                                Some(Place { offset, ..own })
                            })
                        }
                        _ => None,
                    };
                    // The caller cannot compare a mask of the callee.
                    access.place = access.place.filter(|_| access.mask.is_none());
                    self.push(access);
                }
            }
        }
    }

    fn place_of(&mut self, pointer: Value, bytes: Option<u64>) -> Place {
        let pointers = &self.read.pointers;
        let mut address = pointers.address(pointer);
        let offset = std::mem::take(&mut address.offset);
        let is_slot = pointers.object(address.base) == Object::Local;
        let slot = is_slot.then_some(address.base);
        let next = self.bases.len();
        let base = *self.bases.entry(address).or_insert(next);
        Place { base, offset, bytes, pointer, slot }
    }
}

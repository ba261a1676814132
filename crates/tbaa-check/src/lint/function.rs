//! What a function's text says about the pointers that it accesses.
//!
//! Two accesses are known to be of one place where their pointers are one
//! value, or are computed from one value in the same way. A pointer that is
//! loaded twice is one value if nothing between the loads may have changed it,
//! which is what an optimizer makes of it too: front ends reload at will. All
//! that holds within one block, which runs from beginning to end.

use std::fmt;
use std::ops::Range;

use super::width;
use tbaa::Oracle;
use tbaa::parts::table::HashMap;
use tbaa::{Graph, TagId};
use tbaa_ir::{Call, Effects, Module, Opcode, Sizes, Statement};
use tbaa_lex::source::shortened;

/// Loaded pointers that are remembered at a time, each of which every store
/// must be compared with.
const LOADED: usize = 32;

/// A place in memory, as far as a function's text tells places apart. Equal
/// ones are one place, different ones may be too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Pointee {
    number: u32,
    /// The stack slot that it is in, if it is known to be in one.
    pub(super) slot: Option<Slot>,
}

/// The memory of an `alloca`. Different ones are apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Slot(u32);

/// What a function does, in the order of its text.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A block begins, or memory changes in a way that no tag tells.
    Barrier,
    /// The lifetime of a slot begins or ends: what it held is gone.
    Fresh(Slot),
    /// An access, by its index into the module's instructions.
    Access(usize, Option<Pointee>),
}

/// How a place is computed from another.
#[derive(PartialEq, Eq, Hash)]
enum Key<'t> {
    /// A value that is not looked into.
    Value(&'t [u8]),
    /// `getelementptr` of the type, with the indices.
    Element(Pointee, &'t [u8], &'t [u8]),
    /// So many bytes from a place that is computed in no such way.
    Bytes(Pointee, i64),
}

/// `%S` or `{ i32, ptr }`, and no pointer to it.
pub(super) fn is_struct(ty: &[u8]) -> bool {
    (ty.starts_with(b"%") || ty.starts_with(b"{") || ty.starts_with(b"<{")) && !ty.ends_with(b"*")
}

/// A member of a struct, by the struct's LLVM type and the indices that lead to it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Member<'t> {
    pub(super) ty: &'t [u8],
    /// The first member of the first member is at the place of the whole: indices that are 0
    /// are left out at the end.
    indices: Vec<u64>,
}

impl fmt::Display for Member<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ty = shortened(self.ty);
        match self.indices.is_empty() {
            true => write!(f, "the start of {ty}"),
            false => {
                let indices: Vec<String> = self.indices.iter().map(u64::to_string).collect();
                write!(f, "member {} of {ty}", indices.join("."))
            }
        }
    }
}

/// Reads the events of functions.
pub(super) struct Functions<'a> {
    module: &'a Module<'a>,
    oracle: &'a Oracle<&'a Graph>,
    effects: Effects<'a>,
    sizes: &'a Sizes,
    /// Whether members are looked for.
    with_members: bool,
}

/// What is read of a function.
pub(super) struct Read<'t> {
    pub(super) events: Vec<Event>,
    /// The members that are accessed, by the access's index into the module's instructions.
    pub(super) members: HashMap<usize, Member<'t>>,
}

/// What is known while a function is read.
struct Known<'t> {
    places: HashMap<Key<'t>, Pointee>,
    /// Values that are the address of a place.
    values: HashMap<&'t [u8], Pointee>,
    /// What memory is known to hold: a place, the tag under which it was
    /// accessed, and the pointer there.
    loaded: Vec<(Pointee, Option<TagId>, Pointee)>,
    /// Of places that are so many bytes from others, these.
    bases: HashMap<Pointee, (Pointee, i64)>,
    sizes: &'t Sizes,
    /// Values that are the address of a member.
    addresses: HashMap<&'t [u8], Member<'t>>,
    read: Read<'t>,
}

impl<'a> Functions<'a> {
    pub(super) fn new(
        module: &'a Module<'a>,
        oracle: &'a Oracle<&'a Graph>,
        sizes: &'a Sizes,
        with_members: bool,
    ) -> Self {
        Functions { module, oracle, effects: Effects::new(module), sizes, with_members }
    }

    pub(super) fn read(&self, function: u32) -> Read<'a> {
        let body = self.module.body(function);
        let mut known = Known {
            places: HashMap::default(),
            values: HashMap::default(),
            loaded: Vec::new(),
            bases: HashMap::default(),
            sizes: self.sizes,
            addresses: HashMap::default(),
            read: Read { events: Vec::new(), members: HashMap::default() },
        };
        for block in &body.blocks {
            known.change(Event::Barrier);
            for statement in &body.statements[block.statements.clone()] {
                if self.with_members {
                    known.member(self, statement);
                }
                match statement.access {
                    Some(index) => known.access(self, statement, index),
                    None => known.other(&self.effects, statement),
                }
            }
        }
        known.read
    }
}

impl<'t> Known<'t> {
    fn access(&mut self, functions: &Functions<'t>, statement: &Statement<'t>, index: usize) {
        let module = functions.module;
        let (text, instruction) = (module.text(), &module.instructions()[index]);
        if !matches!(instruction.opcode, Opcode::Load | Opcode::Store) {
            self.change(Event::Barrier);
            self.read.events.push(Event::Access(index, None));
            return;
        }
        // What is accessed through `undef` is nothing, each time another.
        let nothing = |span: &Range<usize>| matches!(&text[span.clone()], b"undef" | b"poison");
        let span = module.pointer_span(instruction).filter(|span| !nothing(span));
        let place = span.map(|span| self.place_of(&text[span]));
        self.read.events.push(Event::Access(index, place));
        let is_pointer = width::is_pointer(module.access_type(instruction));
        let Some(place) = place else {
            if instruction.opcode == Opcode::Store {
                self.loaded.clear();
            }
            return;
        };
        if instruction.opcode == Opcode::Load {
            if is_pointer && !instruction.volatile {
                self.load(place, instruction.tag, statement.result);
            }
            return;
        }
        self.loaded.retain(|&(known, tag, _)| {
            let apart = |(stored, tag)| !functions.oracle.may_alias(stored, tag);
            let other_slot = known.slot.zip(place.slot).is_some_and(|(known, it)| known != it);
            other_slot || known != place && instruction.tag.zip(tag).is_some_and(apart)
        });
        let value = statement.stored().filter(|_| is_pointer && !instruction.volatile);
        if let Some(value) = value.filter(|value| value.value.starts_with(b"%")) {
            let value = self.place_of(value.value);
            self.remember(place, instruction.tag, value);
        }
    }

    /// Takes note of the address of a member, and of an access through it.
    fn member(&mut self, functions: &Functions<'t>, statement: &Statement<'t>) {
        if let Some(index) = statement.access {
            let module = functions.module;
            let span = module.pointer_span(&module.instructions()[index]);
            let member = span.and_then(|span| self.addresses.get(&module.text()[span]));
            if let Some(member) = member.cloned() {
                self.read.members.insert(index, member);
            }
            return;
        }
        let whole = |ty| is_struct(ty).then(|| Member { ty, indices: Vec::new() });
        let member = match statement.word {
            b"getelementptr" => statement.element().and_then(|element| {
                let mut indices = element.indices().skip(1);
                let mut member = whole(element.ty)?;
                // An index that is a variable is one of an array, whose elements differ.
                let numbers = indices.try_fold(&mut member.indices, |numbers, index| {
                    numbers.push(std::str::from_utf8(index.value).ok()?.parse().ok()?);
                    Some(numbers)
                })?;
                numbers.truncate(numbers.iter().rposition(|&it| it != 0).map_or(0, |at| at + 1));
                Some(member)
            }),
            b"bitcast" => statement.converted().and_then(|operand| {
                let known = self.addresses.get(operand.value).cloned();
                known.or_else(|| whole(operand.ty.strip_suffix(b"*")?))
            }),
            b"alloca" => {
                let mut operands = statement.operands();
                operands.skip_space().ok().and_then(|()| whole(operands.ty().ok()?))
            }
            _ => None,
        };
        if let (Some(result), Some(member)) = (statement.result, member) {
            self.addresses.insert(result, member);
        }
    }

    /// Takes note of a pointer that is loaded as `result`.
    fn load(&mut self, place: Pointee, tag: Option<TagId>, result: Option<&'t [u8]>) {
        let Some(result) = result else { return };
        match self.loaded.iter().find(|(known, ..)| *known == place) {
            Some(&(_, _, value)) => {
                self.values.insert(result, value);
            }
            None => {
                let value = self.intern(Key::Value(result));
                self.remember(place, tag, value);
            }
        }
    }

    fn remember(&mut self, place: Pointee, tag: Option<TagId>, value: Pointee) {
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
    fn other(&mut self, effects: &Effects<'t>, statement: &Statement<'t>) {
        match (statement.word, statement.result) {
            (b"getelementptr", Some(result)) => {
                if let Some(place) = self.element(statement) {
                    self.values.insert(result, place);
                }
            }
            (b"bitcast" | b"addrspacecast", Some(result)) => {
                let operand = statement.converted().map(|operand| operand.value);
                if let Some(operand) = operand.filter(|operand| operand.starts_with(b"%")) {
                    let place = self.place_of(operand);
                    self.values.insert(result, place);
                }
            }
            (b"alloca", Some(result)) => self.slot(result),
            (b"fence", _) => self.change(Event::Barrier),
            _ if statement.opcode == Opcode::Call => {
                let Some(call) = statement.call() else { return self.change(Event::Barrier) };
                if call.callee.starts_with(b"llvm.lifetime.") {
                    match self.slot_of(&call) {
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

    fn place_of(&mut self, pointer: &'t [u8]) -> Pointee {
        match self.values.get(pointer) {
            Some(&place) => place,
            None => self.intern(Key::Value(pointer)),
        }
    }

    fn intern(&mut self, key: Key<'t>) -> Pointee {
        let slot = match key {
            Key::Value(_) => None,
            Key::Element(base, ..) | Key::Bytes(base, _) => base.slot,
        };
        let next = Pointee { number: self.places.len() as u32, slot };
        let bytes = if let Key::Bytes(base, offset) = key { Some((base, offset)) } else { None };
        let place = *self.places.entry(key).or_insert(next);
        if let Some(bytes) = bytes {
            self.bases.insert(place, bytes);
        }
        place
    }

    /// Gives an `alloca` a slot of its own.
    fn slot(&mut self, result: &'t [u8]) {
        let number = self.places.len() as u32;
        let place = Pointee { number, slot: Some(Slot(number)) };
        self.places.insert(Key::Value(result), place);
        self.values.insert(result, place);
    }

    /// The slot whose lifetime a call begins or ends.
    fn slot_of(&self, call: &Call<'t>) -> Option<Slot> {
        // Before LLVM 22 the size comes first.
        self.values.get(call.arguments.last()?.value)?.slot
    }

    /// The place that a `getelementptr` computes.
    fn element(&mut self, statement: &Statement<'t>) -> Option<Pointee> {
        let element = statement.element()?;
        let base = element.base.value;
        (base.starts_with(b"%") || base.starts_with(b"@")).then_some(())?;
        let base = self.place_of(base);
        if element.indices().all(|index| index.value == b"0") {
            return Some(base);
        }
        // Structs of different names may have a member at the same byte.
        if let Some(step) = self.sizes.step(&element) {
            let (root, before) = self.bases.get(&base).copied().unwrap_or((base, 0));
            return Some(match before.checked_add(step)? {
                0 => root,
                offset => self.intern(Key::Bytes(root, offset)),
            });
        }
        Some(self.intern(Key::Element(base, element.ty, element.list)))
    }
}

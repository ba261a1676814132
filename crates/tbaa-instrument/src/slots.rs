//! Checks for stack slots. The shadow memory of a *fresh* slot is clear: the slot may get any type.

use std::fmt::Write;

use super::function::is_constant;
use super::pass::Slot;
use super::{Current, Form, SkipReason, assembly};
use tbaa::parts::table::{HashMap, HashSet, IndexSet};
use tbaa::{Access, AliasResult, Oracle, TagId};
use tbaa_ir::{Argument, Def, Inst, Opcode, Value};
use tbaa_lex::lexer::Lexer;

/// A tagged access of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Use {
    /// Bytes from the slot's start; `None` if they are known only at run time.
    offset: Option<u64>,
    size: u64,
    tag: TagId,
    writes: bool,
}

impl Use {
    /// Returns whether two accesses could be reported: they may share bytes, at least one writes,
    /// and one of the rules says `NoAlias`.
    fn contradicts(&self, other: &Use, oracles: &[Oracle<&tbaa::Graph>]) -> bool {
        let apart = |a: &Use, b: &Use| match (a.offset, b.offset) {
            (Some(a_offset), Some(b_offset)) => a_offset.saturating_add(a.size) <= b_offset,
            _ => false,
        };
        let is_same = self.tag == other.tag && self.size == other.size;
        let matters = self.writes || other.writes;
        matters && !is_same && !apart(self, other) && !apart(other, self) && {
            let parted = |oracle: &Oracle<&tbaa::Graph>| {
                let access = |user: &Use| Access::of_bytes(oracle.graph(), user.tag, user.size);
                oracle.alias(access(self), access(other)) == AliasResult::NoAlias
            };
            oracles.iter().any(parted)
        }
    }
}

/// The largest number of different accesses compared for one slot. A slot with more is checked.
const MOST_USES: usize = 128;

impl Current<'_, '_> {
    /// Records the slots that live until the function ends, and makes by-value arguments fresh.
    pub(super) fn enter(&mut self, coroutine: bool) {
        let function = self.function;
        let Some(first) = function.instructions.first() else { return };
        let mut by_value = Vec::new();
        for &value in &function.parameters {
            let Def::Parameter(at) = function.def(value) else { continue };
            let parameter = &function.header.parameters[at];
            if parameter.has(b"swifterror") {
                self.swift_errors.insert(value);
            }
            let is_named = !function.written(value).is_empty();
            if parameter.has(b"byval") && is_named && self.is_plain(value) {
                let Some(size) = pointee(parameter).and_then(|ty| self.pass.sizes.of(ty)) else {
                    self.skip(first, SkipReason::Size);
                    continue;
                };
                by_value.push(value);
                self.slots.insert(value, Slot { size: size.alloc, marked: false, whole: false });
            }
        }
        let start = |inst: &Inst| {
            let call = function.call(inst)?;
            call.callee.starts_with(b"llvm.lifetime.start").then_some(())?;
            function.operands(inst).last().copied()
        };
        let marked: HashSet<Value> = function.instructions.iter().filter_map(start).collect();
        for &at in &function.blocks[0].instructions {
            let inst = &function.instructions[at];
            let (Some(alloca), Some(slot)) = (function.alloca(inst), inst.result) else { continue };
            if alloca.swift_error {
                self.swift_errors.insert(slot);
            }
            // The slots of a coroutine may move to the heap: only lifetime markers say when they
            // are fresh.
            let marked = coroutine || marked.contains(&slot);
            let is_slot = alloca.plain && !alloca.swift_error && !self.pointers.is_register(slot);
            if let Some(size) = self.slot_size(inst).filter(|_| is_slot) {
                self.slots.insert(slot, Slot { size, marked, whole: false });
            }
        }
        self.own = self.own();
        if self.pass.form == Form::Assembly {
            function.instructions.iter().for_each(|inst| self.align(inst));
        }
        for slot in by_value {
            self.fresh(first, Some(first.span.start), slot, self.slots[&slot]);
        }
        let is_other = |slot: Value| {
            !self.slots.contains_key(&slot)
                && !self.is_own(slot)
                && !self.swift_errors.contains(&slot)
        };
        let allocas = function.instructions.iter().filter(|inst| inst.opcode == Opcode::Alloca);
        if !coroutine && allocas.filter_map(|alloca| alloca.result).any(is_other) {
            self.stack = Some(self.stack(first.span.start));
        }
    }

    /// Aligns a slot to 4 bytes if its accesses are checked.
    fn align(&mut self, inst: &Inst) {
        if let Some(value) = inst.result
            && let Some(slot) = self.slots.get_mut(&value)
            && !self.own.contains(&value)
            && let Some(align) = self.function.alloca(inst).and_then(|alloca| alloca.align)
        {
            slot.whole = true;
            if matches!(&self.pass.module.text()[align.clone()], b"1" | b"2") {
                self.pass.edits.replace(align, "4");
            }
        }
    }

    /// Inserts code that reads the stack pointer, and returns the name of the value.
    fn stack(&mut self, at: usize) -> String {
        let pass = &mut *self.pass;
        let has = |name: &str| memchr::memmem::find(pass.module.text(), name.as_bytes()).is_some();
        // LLVM 18 and later append the address space to the name, but accept the shorter name.
        let name = pass.stack_save.unwrap_or_else(|| match has("@llvm.stacksave.p0(") {
            true => "@llvm.stacksave.p0",
            false => "@llvm.stacksave",
        });
        if pass.stack_save.replace(name).is_none() && !has(name) {
            let _ = writeln!(pass.nodes, "declare ptr {name}()");
        }
        self.value(at, format_args!("call ptr {name}()"))
    }

    /// Clears the shadow of the stack between the stack pointer and its new value `end`.
    pub(super) fn unstack(&mut self, inst: &Inst, end: &str) {
        let at = inst.span.start;
        let now = self.stack(at);
        let from = self.value(at, format_args!("ptrtoint ptr {now} to i64"));
        let to = self.value(at, format_args!("ptrtoint ptr {end} to i64"));
        let bytes = self.value(at, format_args!("sub i64 {to}, {from}"));
        self.forget(inst, at, &now, &bytes);
    }

    /// Returns the slots whose accesses can never be reported: the address stays in the function,
    /// and no two accesses contradict.
    fn own(&self) -> HashSet<Value> {
        if self.slots.is_empty() {
            return HashSet::default();
        }
        let (function, pass) = (self.function, &*self.pass);
        let mut uses: HashMap<Value, IndexSet<Use>> = HashMap::default();
        let mut others: HashSet<Value> = HashSet::default();
        for pointer in function.values() {
            let address = self.pointers.address(pointer);
            let slot = address.base;
            if !self.slots.contains_key(&slot) {
                continue;
            }
            let offset = u64::try_from(address.offset).ok().filter(|_| address.terms.is_empty());
            for &at in function.users(pointer) {
                match self.uses(at as usize, pointer, (slot, offset)) {
                    Some(found) => uses.entry(slot).or_default().extend(found),
                    None => _ = others.insert(slot),
                }
            }
        }
        let is_own = |slot: &Value| {
            let Some(uses) = uses.get(slot) else { return true };
            let contradicts = |(at, one): (usize, &Use)| {
                uses.iter().take(at).any(|other| one.contradicts(other, pass.oracles()))
            };
            uses.len() <= MOST_USES && !uses.iter().enumerate().any(contradicts)
        };
        let slots = self.slots.keys().copied().filter(|slot| !others.contains(slot));
        slots.filter(is_own).collect()
    }

    /// Returns the tagged accesses that an instruction makes through a pointer, which is `start`
    /// bytes into a slot. `None` if a tag is of constant memory, or the use is not understood.
    fn uses(
        &self,
        at: usize,
        pointer: Value,
        (slot, start): (Value, Option<u64>),
    ) -> Option<Vec<Use>> {
        let (function, pass) = (self.function, &*self.pass);
        let inst = &function.instructions[at];
        let access = inst.access.map(|access| &pass.module.instructions()[access]);
        let operands = function.operands(inst);
        let places = || (0..operands.len()).filter(|&at| operands[at] == pointer);
        // If no operand is the pointer, the instruction uses it in a way that could not be read.
        places().next()?;
        match inst.opcode {
            Opcode::GetElementPtr | Opcode::BitCast | Opcode::Freeze => {
                let is_followed = self.pointers.address(inst.result?).base == slot;
                is_followed.then(Vec::new)
            }
            Opcode::Load | Opcode::Store => {
                let size = pass.size(inst.ty)?.store;
                let writes = inst.opcode == Opcode::Store;
                let tag = pass.telling(access?.tag);
                let is_constant = tag.is_some_and(|tag| is_constant(pass.module.graph(), tag));
                if is_constant || function.stored(inst) == Some(pointer) {
                    return None;
                }
                Some(tag.map(|tag| Use { offset: start, size, tag, writes }).into_iter().collect())
            }
            Opcode::Call if function.is_marker(at) => Some(Vec::new()),
            Opcode::Call => {
                let call = function.call(inst)?;
                let copies = call.callee.starts_with(b"llvm.memcpy.")
                    || call.callee.starts_with(b"llvm.memmove.");
                let tagged = access.is_some_and(|access| access.tag.is_some());
                let members = access.and_then(|access| pass.module.graph().copy(access.copy?));
                let mut found = Vec::new();
                for at in places() {
                    let by_value = call.arguments.get(at)?.has(b"byval");
                    let set = call.callee.starts_with(b"llvm.memset.") && at == 0;
                    if !by_value && (tagged || !(set || copies && at < 2)) {
                        return None;
                    }
                    let members = members.iter().flatten().filter(|_| copies);
                    found.extend(members.filter_map(|member| {
                        let offset = start.and_then(|start| start.checked_add(member.offset));
                        let tag = pass.telling(Some(member.tag))?;
                        Some(Use { offset, size: member.size, tag, writes: at == 0 })
                    }));
                }
                Some(found)
            }
            _ => None,
        }
    }

    /// Returns whether a pointer points into a slot that is in `own` or that LLVM would promote.
    pub(super) fn is_own(&self, pointer: Value) -> bool {
        self.pointers.is_register(pointer)
            || !self.own.is_empty() && self.own.contains(&self.pointers.address(pointer).base)
    }

    fn slot_size(&self, inst: &Inst) -> Option<u64> {
        let count = match self.function.operand(inst, 0).map(|count| self.function.def(count)) {
            None => 1,
            Some(Def::Integer(count)) => u64::try_from(count).ok()?,
            Some(_) => return None,
        };
        self.pass.size(inst.ty)?.alloc.checked_mul(count)
    }

    /// Makes a slot fresh after its `alloca`, unless a lifetime marker will do so.
    pub(super) fn alloca(&mut self, inst: &Inst, after: Option<usize>) {
        let Some(value) = inst.result else { return };
        if self.is_own(value) || self.swift_errors.contains(&value) {
            return;
        }
        match self.function.alloca(inst) {
            None => return self.skip(inst, SkipReason::Unreadable),
            Some(alloca) if !alloca.plain => return self.skip(inst, SkipReason::AddressSpace),
            Some(_) => {}
        }
        if let Some(&slot) = self.slots.get(&value) {
            if !slot.marked {
                self.fresh(inst, after, value, slot);
            }
            return;
        }
        let Some(size) = self.pass.size(inst.ty) else {
            return self.skip(inst, SkipReason::Size);
        };
        let Some(after) = after else { return };
        let mut bytes = size.alloc.to_string();
        if let Some(count) = self.function.operand(inst, 0) {
            let count = self.length(after, count);
            bytes = self.value(after, format_args!("mul i64 {count}, {bytes}"));
        }
        self.forget(inst, after, &self.written(value), &bytes);
    }

    /// Makes slots without lifetime markers fresh at the function's end, for later frames.
    pub(super) fn leave(&mut self, inst: &Inst) {
        if let Some(end) = self.stack.clone() {
            self.unstack(inst, &end);
        }
        let slots = self.slots.iter().map(|(&value, &slot)| (value, slot));
        let mut slots: Vec<(Value, Slot)> = slots.filter(|(_, slot)| !slot.marked).collect();
        slots.sort_by_key(|slot| slot.0);
        for (value, slot) in slots {
            self.fresh(inst, Some(inst.span.start), value, slot);
        }
    }

    /// Handles `llvm.lifetime.start` and `end`, with the arguments of LLVM 22 or of older versions.
    pub(super) fn lifetime(&mut self, inst: &Inst, arguments: &[Value], after: Option<usize>) {
        let Some(&pointer) = arguments.last().filter(|&&argument| self.is_plain(argument)) else {
            return self.skip(inst, SkipReason::AddressSpace);
        };
        if self.is_own(pointer) || self.swift_errors.contains(&pointer) {
            return;
        }
        let of_call = || {
            let &[size, _] = arguments else { return None };
            let Def::Integer(size) = self.function.def(size) else { return None };
            Some(Slot { size: u64::try_from(size).ok()?, marked: true, whole: false })
        };
        match self.slots.get(&pointer).copied().or_else(of_call) {
            Some(slot) => self.fresh(inst, after, pointer, slot),
            None => self.skip(inst, SkipReason::Size),
        }
    }

    /// Inserts code that makes a slot fresh, unless its accesses can never be reported.
    fn fresh(&mut self, inst: &Inst, at: Option<usize>, value: Value, slot: Slot) {
        let (Some(at), false) = (at, self.own.contains(&value)) else { return };
        let name = self.written(value);
        if slot.whole && (1..=assembly::MOST_CLEARED).contains(&slot.size) {
            return self.assembly(inst, at, &assembly::clear_whole(slot.size, &name));
        }
        self.forget(inst, at, &name, &slot.size.to_string());
    }
}

/// Returns the type in an attribute such as `byval(%struct.S)`.
pub(super) fn pointee<'t>(argument: &Argument<'t>) -> Option<&'t [u8]> {
    let after = |word: &[u8]| Some(memchr::memmem::find(argument.attributes, word)? + word.len());
    let at = [&b"byval("[..], b"sret(", b"elementtype(", b"("].into_iter().find_map(after)?;
    Lexer::new(argument.attributes, at).ty().ok()
}

//! Stack slots: which stay in memory, and when they become fresh.

use super::outcome::SkipReason;
use super::pass::{Current, Slot};
use super::{Form, assembly};
use std::fmt::Write;
use tbaa::parts::table::{HashMap, HashSet, IndexSet};
use tbaa::{Access, AliasResult, Oracle, TagId};
use tbaa_ir::{Alloca, Argument, Body, Module, Opcode, Statement};
use tbaa_lex::lexer::Lexer;

/// Finds the slots that LLVM keeps in registers: only whole loads and stores
/// use them.
///
/// LLVM: `isAllocaPromotable`.
pub(super) fn registers<'t>(body: &Body<'t>, module: &'t Module<'t>) -> HashSet<&'t [u8]> {
    // The slots' types, and how many uses are left that may be something else.
    let mut slots: HashMap<&[u8], (&[u8], i64)> = HashMap::default();
    for statement in body.statements.iter().filter(|it| it.word == b"alloca") {
        if let (Some(name), Some(alloca)) = (statement.result, statement.alloca())
            && alloca.count.is_none()
        {
            slots.insert(name, (alloca.ty, 0));
        }
    }
    if slots.is_empty() {
        return HashSet::default();
    }
    for statement in body.statements.iter().filter(|it| !is_marker(it)) {
        for name in statement.values() {
            if let Some((_, uses)) = slots.get_mut(name) {
                *uses += 1;
            }
        }
        if let Some(access) = statement.access.map(|access| &module.instructions()[access])
            && matches!(access.opcode, Opcode::Load | Opcode::Store)
            && !access.volatile
            && let Some(pointer) = module.pointer_span(access)
            && let Some((ty, uses)) = slots.get_mut(&module.text()[pointer])
            && *ty == module.access_type(access)
        {
            *uses -= 1;
        }
    }
    slots.into_iter().filter(|(_, (_, uses))| *uses == 0).map(|(name, _)| name).collect()
}

/// What a function does to a slot by one tag.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Use {
    /// Bytes from the slot's start; `None` if only the running program knows.
    offset: Option<u64>,
    size: u64,
    tag: TagId,
    writes: bool,
}

impl Use {
    /// Whether the two may be reported: they share bytes, and a rule says that they do not.
    fn contradicts(&self, other: &Use, oracles: &[Oracle<&tbaa::Graph>]) -> bool {
        let apart = |a: &Use, b: &Use| match (a.offset, b.offset) {
            (Some(a_offset), Some(b_offset)) => a_offset.saturating_add(a.size) <= b_offset,
            _ => false,
        };
        let is_same = self.tag == other.tag && self.size == other.size;
        let matters = self.writes || other.writes;
        matters && !is_same && !apart(self, other) && !apart(other, self) && {
            let parted = |oracle: &Oracle<&tbaa::Graph>| {
                let access = |it: &Use| Access::of_bytes(oracle.graph(), it.tag, it.size);
                oracle.alias(access(self), access(other)) == AliasResult::NoAlias
            };
            oracles.iter().any(parted)
        }
    }
}

/// Different uses of a slot that are compared. A slot that has more gets its checks.
const MOST_USES: usize = 128;
/// How often a function's text is gone through for pointers into slots. Beyond that all get checks.
const MOST_ROUNDS: u32 = 8;

/// Whether it is a call that says something of a slot, and does nothing to it.
fn is_marker(statement: &Statement<'_>) -> bool {
    let of = [&b"@llvm.lifetime."[..], b"@llvm.dbg.", b"@llvm.invariant.start."];
    statement.opcode == Opcode::Call
        && of.iter().any(|name| memchr::memmem::find(statement.text(), name).is_some())
}

impl<'t> Current<'_, 't> {
    /// Makes arguments by value fresh, and notes the slots that all ends of the
    /// function know.
    pub(super) fn enter(&mut self, body: &Body<'t>, coroutine: bool) {
        let statements = &body.statements[..];
        let Some(first) = statements.first() else { return };
        let mut by_value = Vec::new();
        for parameter in &body.header.parameters {
            let has = |word: &[u8]| memchr::memmem::find(parameter.attributes, word).is_some();
            if has(b"swifterror") {
                self.swift_errors.insert(parameter.value);
            }
            if has(b"byval(") && !parameter.value.is_empty() && parameter.ty == b"ptr" {
                let Some(size) = pointee(parameter).and_then(|ty| self.pass.sizes.of(ty)) else {
                    self.skip(first, SkipReason::Size);
                    continue;
                };
                let slot =
                    Slot { name: parameter.value, size: size.alloc, marked: false, whole: false };
                by_value.push(slot);
                self.slots.insert(slot.name, slot);
            }
        }
        let marked: HashSet<&[u8]> = statements
            .iter()
            .filter(|it| memchr::memmem::find(it.text(), b"@llvm.lifetime.start").is_some())
            .flat_map(Statement::values)
            .collect();
        for statement in statements {
            if statement.is_terminator() {
                break;
            }
            let (b"alloca", Some(name)) = (statement.word, statement.result) else { continue };
            let Some(alloca) = statement.alloca() else { continue };
            if alloca.swift_error {
                self.swift_errors.insert(name);
            }
            // A coroutine's slots may become parts of its frame, which is on
            // the heap: where they are fresh, their markers say.
            let marked = coroutine || marked.contains(name);
            let size = self.slot_size(&alloca);
            if let Some(size) = size.filter(|_| alloca.plain && !alloca.swift_error)
                && !self.registers.contains(name)
            {
                self.slots.insert(name, Slot { name, size, marked, whole: false });
            }
        }
        self.own = self.own(statements);
        if self.pass.form == Form::Assembly {
            statements.iter().for_each(|it| self.align(it));
        }
        for slot in by_value {
            self.fresh(first, Some(first.offset), &slot);
        }
        let is_slot = |it: &[u8]| {
            self.slots.contains_key(it) || self.is_own(it) || self.swift_errors.contains(it)
        };
        let mut allocas = statements.iter().filter(|it| it.word == b"alloca");
        if allocas.any(|it| it.result.is_some_and(|it| !is_slot(it))) && !coroutine {
            self.stack = Some(self.stack(first.offset));
        }
    }

    /// Lets a slot begin at a multiple of 4 bytes, if checks look at it.
    fn align(&mut self, statement: &Statement<'t>) {
        if let Some(name) = statement.result
            && let Some(slot) = self.slots.get_mut(name)
            && !self.own.contains(name)
            && let Some(align) = statement.alloca().and_then(|it| it.align)
        {
            slot.whole = true;
            if matches!(align, b"1" | b"2") {
                let at = align.as_ptr().addr() - self.pass.module.text().as_ptr().addr();
                self.pass.edits.replace(at..at + align.len(), "4");
            }
        }
    }

    /// Computes where the stack ends.
    fn stack(&mut self, at: usize) -> String {
        let pass = &mut *self.pass;
        let has = |name: &str| memchr::memmem::find(pass.module.text(), name.as_bytes()).is_some();
        // LLVM 18 and later name the address space, and read the name without it as well.
        let name = pass.stack_save.unwrap_or_else(|| match has("@llvm.stacksave.p0(") {
            true => "@llvm.stacksave.p0",
            false => "@llvm.stacksave",
        });
        if pass.stack_save.replace(name).is_none() && !has(name) {
            let _ = writeln!(pass.nodes, "declare ptr {name}()");
        }
        self.value(at, format_args!("call ptr {name}()"))
    }

    /// Forgets what lies between the end of the stack and a pointer that will be its end.
    pub(super) fn unstack(&mut self, statement: &Statement<'_>, end: &str) {
        let at = statement.offset;
        let now = self.stack(at);
        let from = self.value(at, format_args!("ptrtoint ptr {now} to i64"));
        let to = self.value(at, format_args!("ptrtoint ptr {end} to i64"));
        let bytes = self.value(at, format_args!("sub i64 {to}, {from}"));
        self.forget(statement, at, &now, &bytes);
    }

    /// Finds the slots whose address stays in the function and of which nothing can be reported, for
    /// no two accesses of the same bytes contradict. Returns all pointers into them.
    fn own(&self, statements: &[Statement<'t>]) -> HashSet<&'t [u8]> {
        if self.slots.is_empty() {
            return HashSet::default();
        }
        let (text, pass) = (self.pass.module.text(), &*self.pass);
        // The slot that each pointer is into, and by how many bytes it points behind the start.
        let mut pointers: HashMap<&[u8], (&[u8], Option<u64>)> =
            self.slots.keys().map(|&slot| (slot, (slot, Some(0)))).collect();
        // A pointer most often stands behind its base in the text.
        let mut left = MOST_ROUNDS;
        loop {
            let before = pointers.len();
            left -= 1;
            for statement in statements.iter().filter(|it| it.word == b"getelementptr") {
                if let (Some(result), Some(element)) = (statement.result, statement.element())
                    && let Some(&(slot, offset)) = pointers.get(element.base.value)
                    && element.base.ty == b"ptr"
                    && !pointers.contains_key(result)
                {
                    let more = pass.sizes.step(&element).and_then(|it| u64::try_from(it).ok());
                    let offset = offset.and_then(|offset| offset.checked_add(more?));
                    pointers.insert(result, (slot, offset));
                }
            }
            if pointers.len() == before {
                break;
            } else if left == 0 {
                return HashSet::default();
            }
        }
        // What is done to each slot, and how many uses are left that may be something else.
        let mut uses: HashMap<&[u8], IndexSet<Use>> = HashMap::default();
        let mut others: HashMap<&[u8], i64> = HashMap::default();
        for statement in statements.iter().filter(|it| !is_marker(it)) {
            let mut count = |pointer: &[u8], by: i64| {
                let &(slot, offset) = pointers.get(pointer)?;
                *others.entry(slot).or_default() += by;
                Some((slot, offset))
            };
            for name in statement.values() {
                count(name, 1);
            }
            let access = statement.access.map(|access| &pass.module.instructions()[access]);
            if statement.word == b"getelementptr" {
                statement.element().map(|it| count(it.base.value, -1));
            } else if statement.opcode == Opcode::Call {
                let Some(call) = statement.call() else { continue };
                let copies = call.callee.starts_with(b"llvm.memcpy.")
                    || call.callee.starts_with(b"llvm.memmove.");
                let tagged = access.is_some_and(|it| it.tag.is_some());
                let members = access.and_then(|it| pass.module.graph().copy(it.copy?));
                for (at, argument) in call.arguments.iter().enumerate() {
                    let by_value = memchr::memmem::find(argument.attributes, b"byval(").is_some();
                    let set = call.callee.starts_with(b"llvm.memset.") && at == 0;
                    if !by_value && (tagged || !(set || copies && at < 2)) {
                        continue;
                    }
                    let Some((slot, start)) = count(argument.value, -1) else { continue };
                    let members = members.iter().flat_map(|it| it.iter()).filter(|_| copies);
                    uses.entry(slot).or_default().extend(members.filter_map(|it| {
                        let offset = start.and_then(|start| start.checked_add(it.offset));
                        let tag = pass.telling(Some(it.tag))?;
                        Some(Use { offset, size: it.size, tag, writes: at == 0 })
                    }));
                }
            } else if let Some(access) = access
                && matches!(access.opcode, Opcode::Load | Opcode::Store)
                && let Some(span) = pass.module.pointer_span(access)
                && let Some(size) = pass.sizes.of(pass.module.access_type(access))
                && let Some((slot, offset)) = count(&text[span], -1)
                && let Some(tag) = pass.telling(access.tag)
            {
                let writes = access.opcode == Opcode::Store;
                uses.entry(slot).or_default().insert(Use { offset, size: size.store, tag, writes });
            }
        }
        let mut is_own = |slot: &'t [u8]| {
            let uses = uses.entry(slot).or_default();
            let contradicts = |(at, one): (usize, &Use)| {
                uses.iter().take(at).any(|other| one.contradicts(other, pass.oracles()))
            };
            others.get(slot).is_none_or(|&others| others == 0)
                && uses.len() <= MOST_USES
                && !uses.iter().enumerate().any(contradicts)
        };
        let own: HashSet<&[u8]> = self.slots.keys().copied().filter(|&slot| is_own(slot)).collect();
        pointers.into_iter().filter(|(_, (slot, _))| own.contains(slot)).map(|it| it.0).collect()
    }

    /// Whether a pointer is into a slot of which nothing can be reported.
    pub(super) fn is_own(&self, pointer: &[u8]) -> bool {
        self.registers.contains(pointer) || self.own.contains(pointer)
    }

    fn slot_size(&mut self, alloca: &Alloca<'_>) -> Option<u64> {
        let count =
            alloca.count.map_or(Some(1), |(_, count)| str::from_utf8(count).ok()?.parse().ok())?;
        self.pass.sizes.of(alloca.ty)?.alloc.checked_mul(count)
    }

    /// Makes a slot fresh when its `alloca` has run.
    pub(super) fn alloca(&mut self, statement: &Statement<'t>, after: Option<usize>) {
        let Some(name) = statement.result else { return };
        if self.is_own(name) || self.swift_errors.contains(name) {
            return;
        }
        let alloca = statement.alloca();
        let Some(alloca) = alloca else { return self.skip(statement, SkipReason::Unreadable) };
        if !alloca.plain {
            return self.skip(statement, SkipReason::AddressSpace);
        }
        if let Some(slot) = self.slots.get(name) {
            if let slot @ Slot { marked: false, .. } = *slot {
                self.fresh(statement, after, &slot);
            }
            return;
        }
        let Some(size) = self.pass.sizes.of(alloca.ty) else {
            return self.skip(statement, SkipReason::Size);
        };
        let (Some(after), name) = (after, String::from_utf8_lossy(name)) else { return };
        let mut bytes = size.alloc.to_string();
        if let Some((ty, count)) = alloca.count {
            let mut count = String::from_utf8_lossy(count).into_owned();
            if ty != b"i64" {
                let ty = String::from_utf8_lossy(ty);
                count = self.value(after, format_args!("zext {ty} {count} to i64"));
            }
            bytes = self.value(after, format_args!("mul i64 {count}, {bytes}"));
        }
        self.forget(statement, after, &name, &bytes);
    }

    /// At the function's end its slots are no more: what comes to lie there may
    /// be of any type.
    pub(super) fn leave(&mut self, statement: &Statement<'_>) {
        if let Some(end) = self.stack.clone() {
            self.unstack(statement, &end);
        }
        let mut slots: Vec<_> = self.slots.values().filter(|slot| !slot.marked).copied().collect();
        slots.sort_by_key(|slot| slot.name.as_ptr());
        for slot in slots {
            self.fresh(statement, Some(statement.offset), &slot);
        }
    }

    /// `llvm.lifetime.start` and `end`, of LLVM 22 or before.
    pub(super) fn lifetime(
        &mut self,
        statement: &Statement<'t>,
        arguments: &[Argument<'t>],
        after: Option<usize>,
    ) {
        let Some(pointer) = arguments.last().filter(|it| it.ty == b"ptr") else {
            return self.skip(statement, SkipReason::AddressSpace);
        };
        if self.is_own(pointer.value) || self.swift_errors.contains(pointer.value) {
            return;
        }
        let slot = match (self.slots.get(pointer.value), arguments) {
            (Some(slot), _) => *slot,
            (None, [size, _]) => {
                let size = str::from_utf8(size.value).ok().and_then(|size| size.parse().ok());
                let Some(size) = size else { return self.skip(statement, SkipReason::Size) };
                Slot { name: pointer.value, size, marked: true, whole: false }
            }
            _ => return self.skip(statement, SkipReason::Size),
        };
        self.fresh(statement, after, &slot);
    }

    /// Makes a slot fresh at a place, unless nothing can be reported of it.
    fn fresh(&mut self, statement: &Statement<'_>, at: Option<usize>, slot: &Slot<'t>) {
        let (Some(at), false) = (at, self.own.contains(slot.name)) else { return };
        let name = String::from_utf8_lossy(slot.name);
        let most = assembly::MOST_CLEARED;
        if slot.whole && (1..=most).contains(&slot.size) {
            return self.assembly(statement, at, &assembly::clear_whole(slot.size, &name));
        }
        self.forget(statement, at, &name, &slot.size.to_string());
    }
}

/// Returns what an attribute such as `byval(%struct.S)` names.
pub(super) fn pointee<'t>(argument: &Argument<'t>) -> Option<&'t [u8]> {
    let open = memchr::memchr(b'(', argument.attributes)?;
    let word = [&b"byval("[..], b"sret(", b"elementtype("];
    let at = word
        .iter()
        .find_map(|word| Some(memchr::memmem::find(argument.attributes, word)? + word.len()));
    let mut lexer = Lexer::new(argument.attributes, at.unwrap_or(open + 1));
    lexer.ty().ok()
}

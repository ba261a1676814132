//! Stack slots: which stay in memory, and when they become fresh.

use super::outcome::SkipReason;
use super::pass::{Current, Slot};
use tbaa::parts::table::{HashMap, HashSet};
use tbaa_ir::{Argument, Body, Module, Opcode, Statement};
use tbaa_lex::lexer::Lexer;

/// An `alloca` taken apart.
struct Alloca<'t> {
    ty: &'t [u8],
    /// Its type and value.
    count: Option<(&'t [u8], &'t [u8])>,
    swift_error: bool,
    /// Whether its address space is 0 and it is none of a call's arguments.
    plain: bool,
}

impl<'t> Alloca<'t> {
    fn read(statement: &Statement<'t>) -> Option<Self> {
        let mut lexer = statement.operands();
        let (mut swift_error, mut plain) = (false, true);
        loop {
            lexer.skip_space().ok()?;
            if lexer.eat_word(b"swifterror") {
                swift_error = true;
            } else if lexer.eat_word(b"inalloca") {
                plain = false;
            } else {
                break;
            }
        }
        let ty = lexer.ty().ok()?;
        let mut count = None;
        while lexer.skip_space().is_ok() && lexer.eat(b",") {
            lexer.skip_space().ok()?;
            let rest = lexer.rest();
            if rest.starts_with(b"addrspace(") {
                plain = rest.starts_with(b"addrspace(0)");
            } else if rest.starts_with(b"i") {
                let ty = lexer.ty().ok()?;
                lexer.skip_space().ok()?;
                let rest = lexer.rest();
                let end = rest.iter().position(|&byte| byte == b',' || byte.is_ascii_whitespace());
                let value = &rest[..end.unwrap_or(rest.len())];
                count = Some((ty, value));
                lexer.at += value.len();
                continue;
            }
            // An alignment, an address space or an attachment.
            lexer.at += rest.iter().position(|&byte| byte == b',').unwrap_or(rest.len());
        }
        Some(Alloca { ty, count, swift_error, plain })
    }
}

/// Finds the slots that LLVM keeps in registers: only whole loads and stores
/// use them.
///
/// LLVM: `isAllocaPromotable`.
pub(super) fn registers<'t>(
    text: &'t [u8],
    body: &Body<'t>,
    module: &'t Module,
) -> HashSet<&'t [u8]> {
    // The slots' types, and how many uses are left that may be something else.
    let mut slots: HashMap<&[u8], (&[u8], i64)> = HashMap::default();
    for statement in body.statements.iter().filter(|it| it.word == b"alloca") {
        if let (Some(name), Some(alloca)) = (statement.result, Alloca::read(statement))
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
            && let Some(pointer) = access.pointer_span(text)
            && let Some((ty, uses)) = slots.get_mut(&text[pointer])
            && *ty == module.access_type(access)
        {
            *uses -= 1;
        }
    }
    slots.into_iter().filter(|(_, (_, uses))| *uses == 0).map(|(name, _)| name).collect()
}

/// Whether it is a call that says something of a slot, and does nothing to it.
fn is_marker(statement: &Statement<'_>) -> bool {
    let of = [&b"@llvm.lifetime."[..], b"@llvm.dbg.", b"@llvm.invariant.start."];
    statement.opcode == Opcode::Call
        && of.iter().any(|name| memchr::memmem::find(statement.text(), name).is_some())
}

impl<'t> Current<'_, 't> {
    /// Makes arguments by value fresh, and notes the slots that all ends of the
    /// function know.
    pub(super) fn enter(
        &mut self,
        parameters: &[Argument<'t>],
        statements: &[Statement<'t>],
        coroutine: bool,
    ) {
        let Some(first) = statements.first() else { return };
        for parameter in parameters {
            let has = |word: &[u8]| memchr::memmem::find(parameter.attributes, word).is_some();
            if has(b"swifterror") {
                self.swift_errors.insert(parameter.value);
            }
            if has(b"byval(") && !parameter.value.is_empty() && parameter.ty == b"ptr" {
                let Some(size) = pointee(parameter).and_then(|ty| self.pass.sizes.of(ty)) else {
                    self.skip(first, SkipReason::Size);
                    continue;
                };
                let slot = Slot { name: parameter.value, size: size.alloc, marked: false };
                self.before(first, fresh(&slot));
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
            let Some(alloca) = Alloca::read(statement) else { continue };
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
                self.slots.insert(name, Slot { name, size, marked });
            }
        }
    }

    fn slot_size(&mut self, alloca: &Alloca<'_>) -> Option<u64> {
        let count =
            alloca.count.map_or(Some(1), |(_, count)| str::from_utf8(count).ok()?.parse().ok())?;
        self.pass.sizes.of(alloca.ty)?.alloc.checked_mul(count)
    }

    /// Makes a slot fresh when its `alloca` has run.
    pub(super) fn alloca(&mut self, statement: &Statement<'t>, after: Option<usize>) {
        let Some(name) = statement.result else { return };
        if self.registers.contains(name) || self.swift_errors.contains(name) {
            return;
        }
        let alloca = Alloca::read(statement);
        let Some(alloca) = alloca else { return self.skip(statement, SkipReason::Unreadable) };
        if !alloca.plain {
            return self.skip(statement, SkipReason::AddressSpace);
        }
        if let Some(slot) = self.slots.get(name) {
            if !slot.marked {
                let call = fresh(slot);
                self.after(statement, after, call);
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
        self.after(statement, Some(after), format_args!("fresh(ptr {name}, i64 {bytes})"));
    }

    /// At the function's end its slots are no more: what comes to lie there may
    /// be of any type.
    pub(super) fn leave(&mut self, statement: &Statement<'_>) {
        let mut slots: Vec<_> = self.slots.values().filter(|slot| !slot.marked).copied().collect();
        slots.sort_by_key(|slot| slot.name.as_ptr());
        for slot in slots {
            self.before(statement, fresh(&slot));
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
        if self.registers.contains(pointer.value) || self.swift_errors.contains(pointer.value) {
            return;
        }
        let slot = match (self.slots.get(pointer.value), arguments) {
            (Some(slot), _) => *slot,
            (None, [size, _]) => {
                let size = str::from_utf8(size.value).ok().and_then(|size| size.parse().ok());
                let Some(size) = size else { return self.skip(statement, SkipReason::Size) };
                Slot { name: pointer.value, size, marked: true }
            }
            _ => return self.skip(statement, SkipReason::Size),
        };
        self.after(statement, after, fresh(&slot));
    }
}

fn fresh(slot: &Slot<'_>) -> String {
    format!("fresh(ptr {}, i64 {})", String::from_utf8_lossy(slot.name), slot.size)
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

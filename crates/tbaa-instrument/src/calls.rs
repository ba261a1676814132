//! Calls: intrinsics that access memory, and what writes memory without a tag.

use std::fmt::Write;

use super::access::{Bytes, shortened};
use super::check::Direction;
use super::known;
use super::outcome::SkipReason;
use super::pass::Current;
use super::slots::pointee;
use tbaa::{CopyEntry, TagId};
use tbaa_ir::{Argument, Attribute, Call, Global, Instruction, Statement};

/// Functions that write a string to their first argument, as many bytes as the
/// second says at most where `true`: those with a variable number of arguments,
/// and those that LLVM turns into something else. Others that write are seen by
/// the runtime.
const PRINT: &[(&[u8], bool)] = &[
    (b"sprintf", false),
    (b"snprintf", true),
    (b"vsprintf", false),
    (b"vsnprintf", true),
    (b"__sprintf_chk", false),
    (b"__snprintf_chk", true),
    (b"__vsprintf_chk", false),
    (b"__vsnprintf_chk", true),
    (b"strcpy", false),
    (b"stpcpy", false),
    (b"strcat", false),
    (b"strncat", false),
    (b"__strcpy_chk", false),
    (b"__stpcpy_chk", false),
    (b"__strcat_chk", false),
    (b"__strncat_chk", false),
];

/// Functions that return a second time, with frames gone.
const RETURN_TWICE: &[&[u8]] =
    &[b"setjmp", b"_setjmp", b"sigsetjmp", b"__sigsetjmp", b"llvm.eh.sjlj.setjmp"];

/// Pointers that one call of the runtime tells of.
const MOST_POINTERS: usize = 3;

impl<'t> Current<'_, 't> {
    pub(super) fn call(
        &mut self,
        statement: &Statement<'t>,
        access: Option<&Instruction>,
        after: Option<usize>,
    ) {
        let Some(call) = statement.call() else {
            if access.is_some() {
                self.skip(statement, SkipReason::Unreadable);
            }
            return;
        };
        super::attributes::weaken(call.attributes.clone(), &mut self.pass.edits);
        let after = after.filter(|_| matches!(statement.word, b"call" | b"invoke"));
        let tag = access.and_then(|it| it.tag);
        match call.callee {
            b"memcpy" | b"memmove" | b"mempcpy" | b"__memcpy_chk" | b"__memmove_chk" => {
                self.copy(statement, access, &call);
            }
            b"memset" | b"__memset_chk" | b"strncpy" | b"__strncpy_chk" => {
                self.set(statement, tag, &call);
            }
            callee if callee.starts_with(b"llvm.mem") => match &callee[8..] {
                [b'c' | b'm', ..] => self.copy(statement, access, &call),
                _ => self.set(statement, tag, &call),
            },
            callee if callee.starts_with(b"llvm.lifetime.") => {
                // At its end a slot is cleared just before.
                let after = if callee.starts_with(b"llvm.lifetime.end") {
                    Some(statement.offset)
                } else {
                    after
                };
                self.lifetime(statement, &call.arguments, after);
            }
            callee if callee.starts_with(b"llvm.stackrestore") => {
                if let Some(end) = call.arguments.first().filter(|_| self.stack.is_some()) {
                    self.unstack(statement, &lossy(end.value));
                }
            }
            callee if callee.starts_with(b"llvm.masked.") => self.masked(statement, tag, &call),
            callee if callee.starts_with(b"llvm.va_") => {
                // The list itself; three words and two counts at most.
                self.clear(statement, &call.arguments[..call.arguments.len().min(1)], 32);
            }
            callee => {
                // Elsewhere a tag says what the callee does to `errno`.
                if tag.is_some() && callee.starts_with(b"llvm.") {
                    self.skip(statement, SkipReason::Call);
                }
                self.other(statement, &call, after);
            }
        }
    }

    /// A call of something else, which may be known to write.
    fn other(&mut self, statement: &Statement<'t>, call: &Call<'t>, after: Option<usize>) {
        let arguments = &call.arguments;
        if RETURN_TWICE.contains(&call.callee) {
            let returned = statement.result.filter(|_| head_of(statement, call).ends_with(b"i32"));
            let returned = returned.map_or("1".to_owned(), lossy);
            self.after(statement, after, format_args!("unwound(i32 {returned})"));
        } else if let Some(&(_, bounded)) = PRINT.iter().find(|(name, _)| *name == call.callee) {
            let [buffer, rest @ ..] = &arguments[..] else { return };
            if !buffer.is_pointer() {
                return;
            }
            let most = rest.first().filter(|it| bounded && it.ty == b"i64");
            let most = most.map_or("-1".to_owned(), |it| lossy(it.value));
            let buffer = lossy(buffer.value);
            self.after(statement, after, format_args!("printed(ptr {buffer}, i64 {most})"));
            return;
        }
        // Memory operands of assembly, and results of code that is not checked.
        let is_result = |argument: &&Argument<'_>| {
            let has = |word| memchr::memmem::find(argument.attributes, word).is_some();
            has(b"elementtype(") && call.constraints.is_some()
                || has(b"sret(") && !self.pass.checked.contains(call.callee)
        };
        let results: Vec<_> = arguments.iter().filter(is_result).copied().collect();
        for result in results {
            let size = pointee(&result).and_then(|ty| self.pass.sizes.of(ty));
            self.clear(statement, &[result], size.map_or(0, |size| size.alloc));
        }
        match call.constraints {
            Some(constraints) => {
                // LLVM: no access of memory that others can reach moves past it.
                if memchr::memmem::find(constraints, b"~{memory}").is_some() {
                    self.before(statement, "barrier()");
                }
            }
            None => {
                self.heap(statement, call, after);
                self.outside(statement, call, after);
            }
        }
    }

    /// A call that gives out a block of the heap, or takes one back.
    fn heap(&mut self, statement: &Statement<'t>, call: &Call<'t>, after: Option<usize>) {
        if known::releases(call.callee)
            && let Some(block) = call.arguments.first().filter(|it| it.is_pointer())
        {
            self.before(statement, format_args!("released(ptr {})", lossy(block.value)));
        }
        let said = |group: u32| {
            self.pass.groups.of(group).find_map(|(_, it)| match it {
                Attribute::Word(b"allocsize", list) => list,
                _ => None,
            })
        };
        let stated = call.attributes.clone().find_map(|(_, it)| match it {
            Attribute::Word(b"allocsize", list) => list,
            Attribute::Group(group) => said(group),
            _ => None,
        });
        let stated = stated.and_then(|list| {
            let numbers = str::from_utf8(list).ok()?.split(',');
            numbers.map(|number| number.trim().parse().ok()).collect::<Option<Vec<usize>>>()
        });
        let known = || known::allocates(call.callee).map(<[usize]>::to_vec);
        let (Some(sizes), Some(result)) = (stated.or_else(known), statement.result) else { return };
        let mut factors = sizes.iter().map(|&at| call.arguments.get(at));
        let Some(Some(first)) = factors.next() else { return };
        let mut size = self.length(statement, first);
        if let Some(Some(second)) = factors.next() {
            let second = self.length(statement, second);
            size = self.value(statement.offset, format_args!("mul i64 {size}, {second}"));
        }
        self.after(statement, after, format_args!("allocated(ptr {}, i64 {size})", lossy(result)));
    }

    /// Tells the runtime which pointers a call hands to a function that may not be checked,
    /// and what such a function returns.
    fn outside(&mut self, statement: &Statement<'t>, call: &Call<'t>, after: Option<usize>) {
        if call.target.is_empty()
            || self.pass.checked.contains(call.callee)
            || call.callee.starts_with(b"llvm.")
            || known::releases(call.callee)
            || known::allocates(call.callee).is_some()
            || !self.pass.effects.on_loads(call).writes()
        {
            return;
        }
        // `@"\01name"` is linked as `name`.
        let name = call.callee.strip_prefix(b"\"\\01").unwrap_or(call.callee);
        let name = name.strip_suffix(b"\"").unwrap_or(name);
        let name = name.strip_prefix(b"\"").unwrap_or(name);
        if let Some(parts) = known::parts(name) {
            for &(at, size) in parts {
                let argument = call.arguments.get(at..=at).unwrap_or_default();
                self.clear(statement, argument, size);
            }
            return;
        }
        let written = match call.callee {
            b"" => !0,
            _ => *self.pass.written.entry(name).or_insert_with(|| known::written(name)),
        };
        let mut pointers = Vec::new();
        for (at, argument) in call.arguments.iter().enumerate() {
            // A mask has no bit for what comes after its last; that is like the last.
            let has = |word| memchr::memmem::find(argument.attributes, word).is_some();
            if written >> at.min(31) & 1 == 0
                || !argument.is_pointer()
                || matches!(argument.value, b"null" | b"undef" | b"poison")
                || [&b"byval("[..], b"sret(", b"readonly", b"readnone"].into_iter().any(has)
            {
                continue;
            }
            let size = match argument.value.strip_prefix(b"@") {
                Some(global) => match self.pass.globals.get(global) {
                    Some(Global { constant: true, .. }) => continue,
                    Some(Global { size, .. }) => *size,
                    None => 0,
                },
                None => self.slots.get(argument.value).map_or(0, |slot| slot.size),
            };
            pointers.push((lossy(argument.value), size));
        }
        let target = lossy(call.target);
        for some in pointers.chunks(MOST_POINTERS) {
            self.out(statement, statement.offset, &target, some);
        }
        let head = head_of(statement, call);
        let returns_pointer =
            head.ends_with(b"ptr") || memchr::memmem::find(head, b" ptr (").is_some();
        if written != 0
            && returns_pointer
            && let (Some(result), Some(after)) = (statement.result, after)
        {
            self.out(statement, after, &target, &[(lossy(result), 0)]);
        }
    }

    fn out(
        &mut self,
        statement: &Statement<'_>,
        at: usize,
        target: &str,
        pointers: &[(String, u64)],
    ) {
        self.pass.table.out.insert(pointers.len());
        let mut call = format!(".out{}(ptr {target}", pointers.len());
        for (pointer, size) in pointers {
            let _ = write!(call, ", ptr {pointer}, i64 {size}");
        }
        call.push(')');
        self.put(statement, at, call);
    }

    /// Clears bytes at each of the pointers.
    fn clear(&mut self, statement: &Statement<'_>, pointers: &[Argument<'_>], size: u64) {
        for pointer in pointers.iter().filter(|it| it.is_pointer() && size > 0) {
            let size = size.to_string();
            self.forget(statement, statement.offset, &lossy(pointer.value), &size);
        }
    }

    fn set(&mut self, statement: &Statement<'t>, tag: Option<TagId>, call: &Call<'t>) {
        let [to, _, size, ..] = &call.arguments[..] else {
            return self.skip(statement, SkipReason::Unreadable);
        };
        if !to.is_pointer() {
            return self.skip(statement, SkipReason::AddressSpace);
        }
        if self.is_own(to.value) {
            return;
        }
        let (pointer, size) = (lossy(to.value), self.length(statement, size));
        let tag = self.pass.telling(tag);
        let what = shortened(format!("memset, ptr {pointer}"));
        self.touch(
            statement,
            tag,
            &[Direction::Write],
            &Bytes { pointer: &pointer, size: &size },
            &what,
        );
    }

    fn copy(&mut self, statement: &Statement<'t>, access: Option<&Instruction>, call: &Call<'t>) {
        let [to, from, size, ..] = &call.arguments[..] else {
            return self.skip(statement, SkipReason::Unreadable);
        };
        if !to.is_pointer() || !from.is_pointer() {
            return self.skip(statement, SkipReason::AddressSpace);
        }
        let size = self.length(statement, size);
        let tag = access.and_then(|it| it.tag);
        let entries = access.and_then(|it| self.pass.module.graph().copy(it.copy?));
        let sides = [(from, Direction::Read, "from"), (to, Direction::Write, "to")];
        for (argument, kind, word) in sides {
            if self.is_own(argument.value) {
                continue;
            }
            let pointer = lossy(argument.value);
            let what = shortened(format!("copy {word} ptr {pointer}"));
            if tag.is_some() || entries.is_none() {
                let tag = self.pass.telling(tag);
                let bytes = Bytes { pointer: &pointer, size: &size };
                self.touch(statement, tag, &[kind], &bytes, &what);
                continue;
            }
            if kind == Direction::Write {
                // What lies between the members.
                self.forget(statement, statement.offset, &pointer, &size);
            }
            let most = size.parse().unwrap_or(u64::MAX);
            for CopyEntry { offset, size, tag } in entries.iter().flatten() {
                let fits = offset.checked_add(*size).is_some_and(|end| end <= most);
                let Some(tag) = self.pass.telling(Some(*tag)).filter(|_| fits && *size > 0) else {
                    continue;
                };
                let at = format_args!("getelementptr i8, ptr {pointer}, i64 {offset}").to_string();
                let (place, size) = (self.value(statement.offset, at), size.to_string());
                let bytes = Bytes { pointer: &place, size: &size };
                self.touch(statement, Some(tag), &[kind], &bytes, &what);
            }
        }
    }

    /// A length as an `i64`.
    fn length(&mut self, statement: &Statement<'_>, length: &Argument<'_>) -> String {
        let value = lossy(length.value);
        if length.ty == b"i64" || value.parse::<u64>().is_ok() {
            return value;
        }
        let ty = lossy(length.ty);
        self.value(statement.offset, format_args!("zext {ty} {value} to i64"))
    }

    /// Masked loads and stores, gathers and scatters.
    fn masked(&mut self, statement: &Statement<'t>, tag: Option<TagId>, call: &Call<'t>) {
        let operation = call.callee["llvm.masked.".len()..].split(|&b| b == b'.').next();
        let (kind, spread) = match operation {
            Some(b"load") => (Direction::Read, false),
            Some(b"store") => (Direction::Write, false),
            Some(b"gather") => (Direction::Read, true),
            Some(b"scatter") => (Direction::Write, true),
            _ => return self.skip(statement, SkipReason::Call),
        };
        let tag = self.pass.telling(tag);
        if tag.is_none() && kind == Direction::Read {
            return;
        }
        let of_mask = |it: &&Argument<'_>| it.ty.ends_with(b" x i1>");
        let of_pointer = |it: &&Argument<'_>| match spread {
            true => it.ty.ends_with(b" x ptr>"),
            false => it.is_pointer(),
        };
        let value = match kind {
            Direction::Read => call.arguments.last(),
            Direction::Write => call.arguments.first(),
        };
        let mask =
            call.arguments.iter().rev().skip(usize::from(kind == Direction::Read)).find(of_mask);
        let pointer =
            call.arguments.iter().skip(usize::from(kind == Direction::Write)).find(of_pointer);
        let lanes = value.and_then(|value| self.lanes(value.ty));
        let (Some(mask), Some(pointer), Some((lanes, size))) = (mask, pointer, lanes) else {
            return self.skip(statement, SkipReason::Size);
        };
        let site = tag.map(|tag| {
            let what = shortened(format!("{} {}", lossy(call.callee), lossy(pointer.value)));
            self.site(statement, tag, size, kind, what)
        });
        let call = |pointer: &str, bits: &str| match site {
            Some(site) => format!(
                "masked(ptr {pointer}, i64 {bits}, i64 {size}, i32 {site}, ptr @__tbaa_witness.module)"
            ),
            None => format!("masked_clear(ptr {pointer}, i64 {bits}, i64 {size})"),
        };
        let (at, ty) = (statement.offset, lossy(mask.ty));
        let (pointers, pointer, mask) =
            (lossy(pointer.ty), lossy(pointer.value), lossy(mask.value));
        if !spread {
            let bits = self.value(at, format_args!("bitcast {ty} {mask} to i{lanes}"));
            let bits = match lanes {
                64 => bits,
                _ => self.value(at, format_args!("zext i{lanes} {bits} to i64")),
            };
            return self.before(statement, call(&pointer, &bits));
        }
        for lane in 0..lanes {
            let lane_of = |ty, value| format!("extractelement {ty} {value}, i64 {lane}");
            let one = self.value(at, lane_of(&pointers, &pointer));
            let bit = self.value(at, lane_of(&ty, &mask));
            let bit = self.value(at, format_args!("zext i1 {bit} to i64"));
            self.before(statement, call(&one, &bit));
        }
    }

    /// Returns how many elements a vector has, up to 64, and the bytes of one.
    fn lanes(&mut self, ty: &[u8]) -> Option<(u32, u64)> {
        let inner = str::from_utf8(ty).ok()?.strip_prefix('<')?.strip_suffix('>')?;
        let (count, element) = inner.split_once(" x ")?;
        let count: u32 = count.trim().parse().ok()?;
        let size = self.pass.sizes.of(element.trim().as_bytes())?.store;
        ((1..=64).contains(&count) && size > 0).then_some((count, size))
    }
}

/// What stands before the callee of a call.
fn head_of<'t>(statement: &Statement<'t>, call: &Call<'t>) -> &'t [u8] {
    let text = statement.text();
    text[..call.target.as_ptr().addr() - text.as_ptr().addr()].trim_ascii_end()
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

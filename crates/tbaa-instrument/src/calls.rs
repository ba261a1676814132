//! Checks for calls: intrinsics that access memory, and functions that write without a tag.

use std::fmt::Write;

use super::access::shortened;
use super::slots::pointee;
use super::{Current, Direction, SkipReason, known};
use tbaa::{CopyEntry, TagId};
use tbaa_ir::{Attribute, Call, Def, Global, Inst, Instruction, Value};
use tbaa_lex::lexer::words;
use tbaa_types::{ElementCount, Type, TypeKind};

/// Functions that write a string through their first argument. After a call of one, the runtime is
/// told of the string. The second argument of `BOUNDED` functions limits its length.
const PRINT: [&[u8]; 12] = words(
    "sprintf vsprintf __sprintf_chk __vsprintf_chk strcpy stpcpy strcat strncat __strcpy_chk \
     __stpcpy_chk __strcat_chk __strncat_chk",
);
const BOUNDED: [&[u8]; 4] = words("snprintf vsnprintf __snprintf_chk __vsnprintf_chk");

/// Functions that return a second time, after a `longjmp` has left other stack frames.
const RETURN_TWICE: [&[u8]; 5] = words("setjmp _setjmp sigsetjmp __sigsetjmp llvm.eh.sjlj.setjmp");

/// The largest number of pointers that a call of a function `__tbaa_witness.outN` passes.
const MOST_POINTERS: usize = 3;

impl<'t> Current<'_, 't> {
    pub(super) fn call(&mut self, inst: &Inst, access: Option<&Instruction>, after: Option<usize>) {
        let function = self.function;
        let Some(call) = function.call(inst) else {
            if access.is_some() {
                self.skip(inst, SkipReason::Unreadable);
            }
            return;
        };
        super::function::weaken(call.attributes.clone(), &mut self.pass.edits);
        let arguments = &function.operands(inst)[..call.arguments.len()];
        let tag = access.and_then(|access| access.tag);
        match call.callee {
            b"memcpy" | b"memmove" | b"mempcpy" | b"__memcpy_chk" | b"__memmove_chk" => {
                self.copy(inst, access, arguments);
            }
            b"memset" | b"__memset_chk" | b"strncpy" | b"__strncpy_chk" => {
                self.set(inst, tag, arguments);
            }
            callee if callee.starts_with(b"llvm.mem") => match &callee[8..] {
                [b'c' | b'm', ..] => self.copy(inst, access, arguments),
                _ => self.set(inst, tag, arguments),
            },
            callee if callee.starts_with(b"llvm.lifetime.") => {
                // Clear the slot's shadow before the end of a lifetime, and after the start of one.
                let is_end = callee.starts_with(b"llvm.lifetime.end");
                let at = if is_end { Some(inst.span.start) } else { after };
                self.lifetime(inst, arguments, at);
            }
            callee if callee.starts_with(b"llvm.stackrestore") => {
                if let Some(&end) = arguments.first().filter(|_| self.stack.is_some()) {
                    self.unstack(inst, &self.written(end));
                }
            }
            callee if callee.starts_with(b"llvm.masked.") => {
                self.masked(inst, tag, &call, arguments);
            }
            callee if callee.starts_with(b"llvm.va_") => {
                // A `va_list` has 32 bytes or less.
                self.clear(inst, arguments.first(), 32);
            }
            callee => {
                // On a function that is no intrinsic, a tag describes only its use of `errno`.
                if tag.is_some() && callee.starts_with(b"llvm.") {
                    self.skip(inst, SkipReason::Call);
                }
                self.other(inst, &call, arguments, after);
            }
        }
    }

    /// Handles a call for which [`Current::call`] has no case.
    fn other(&mut self, inst: &Inst, call: &Call<'t>, arguments: &[Value], after: Option<usize>) {
        let prints = memchr::memmem::find(call.callee, b"printf").is_some();
        if prints && !self.pass.checked.contains(&*call.name()) {
            // The conversion `%n` writes 8 bytes at most.
            self.clear(inst, arguments, 8);
        }
        let tells = |list: &[&[u8]]| after.is_some() && list.contains(&call.callee);
        if RETURN_TWICE.contains(&call.callee) {
            let returned = self.result(inst).filter(|_| self.pass.bits(inst.ty) == Some(32));
            let returned = returned.unwrap_or_else(|| "1".to_owned());
            self.after(inst, after, format_args!("unwound(i32 {returned})"));
        } else if tells(&BOUNDED) || tells(&PRINT) {
            let [buffer, rest @ ..] = arguments else { return };
            if !self.is_plain(*buffer) {
                return;
            }
            let is_count = |value: &&Value| self.pass.bits(self.function.ty(**value)) == Some(64);
            let bounded = BOUNDED.contains(&call.callee);
            let most = rest.first().filter(|rest| bounded && is_count(rest));
            let most = most.map_or("-1".to_owned(), |&most| self.written(most));
            let buffer = self.written(*buffer);
            return self.after(inst, after, format_args!("printed(ptr {buffer}, i64 {most})"));
        }
        // Assembly writes its memory operands, and uninstrumented code writes its `sret` results.
        for (argument, value) in call.arguments.iter().zip(arguments) {
            if argument.has(b"elementtype") && call.constraints.is_some()
                || argument.has(b"sret") && !self.pass.checked.contains(&*call.name())
            {
                let size = pointee(argument).and_then(|ty| self.pass.sizes.of(ty));
                self.clear(inst, [value], size.map_or(0, |size| size.alloc));
            }
        }
        let Some(constraints) = call.constraints else {
            self.heap(inst, call, arguments, after);
            return self.outside(inst, call, arguments, after);
        };
        // LLVM moves no access of escaped memory across assembly that clobbers memory.
        if memchr::memmem::find(constraints, b"~{memory}").is_some() {
            self.before(inst, "barrier()");
        }
    }

    /// Inserts code that tells the runtime of a heap block that a call allocates or frees.
    fn heap(&mut self, inst: &Inst, call: &Call<'t>, arguments: &[Value], after: Option<usize>) {
        if known::releases(call.callee)
            && let Some(&block) = arguments.first().filter(|&&argument| self.is_plain(argument))
        {
            self.before(inst, format_args!("released(ptr {})", self.written(block)));
        }
        let list = |(_, attribute): (_, Attribute<'t>)| match attribute {
            Attribute::Word(b"allocsize", list) => list,
            _ => None,
        };
        let stated = call.attributes.clone().find_map(|attribute| match attribute.1 {
            Attribute::Group(group) => self.pass.groups.of(group).find_map(list),
            _ => list(attribute),
        });
        let stated = stated.and_then(|list| {
            let numbers = str::from_utf8(list).ok()?.split(',');
            numbers.map(|number| number.trim().parse().ok()).collect::<Option<Vec<usize>>>()
        });
        let known = || known::allocates(call.callee).map(<[usize]>::to_vec);
        let result = self.result(inst);
        let (Some(sizes), Some(result)) = (stated.or_else(known), result) else { return };
        let mut factors = sizes.iter().map(|&at| arguments.get(at));
        let Some(Some(&first)) = factors.next() else { return };
        let mut size = self.length(inst.span.start, first);
        if let Some(Some(&second)) = factors.next() {
            let second = self.length(inst.span.start, second);
            size = self.value(inst.span.start, format_args!("mul i64 {size}, {second}"));
        }
        self.after(inst, after, format_args!("allocated(ptr {result}, i64 {size})"));
    }

    /// Handles a call of a function that may have no checks: clears the shadow of what it is known
    /// to write, or tells the runtime which pointers it may write through or return.
    fn outside(&mut self, inst: &Inst, call: &Call<'t>, arguments: &[Value], after: Option<usize>) {
        if call.target.is_empty()
            || self.pass.checked.contains(&*call.name())
            || known::releases(call.callee)
            || known::allocates(call.callee).is_some()
            || !self.pass.effects.on_loads(call).writes()
        {
            return;
        }
        if call.callee.starts_with(b"llvm.") {
            return self.intrinsic(inst, call, arguments);
        }
        // LLVM links `@"\01name"` as `name`.
        let name = call.callee.strip_prefix(b"\"\\01").unwrap_or(call.callee);
        let name = name.strip_suffix(b"\"").unwrap_or(name);
        let name = name.strip_prefix(b"\"").unwrap_or(name);
        if let Some(parts) = known::parts(name) {
            return parts.iter().for_each(|&(at, size)| self.clear(inst, arguments.get(at), size));
        }
        let written = match call.callee {
            b"" => !0,
            _ => *self.pass.written.entry(name).or_insert_with(|| known::written(name)),
        };
        let mut pointers = Vec::new();
        for (at, (argument, &value)) in call.arguments.iter().zip(arguments).enumerate() {
            let def = self.function.def(value);
            // The last bit of the mask also stands for all later arguments.
            let kept = [&b"byval"[..], b"sret", b"readonly", b"readnone"];
            if written >> at.min(31) & 1 == 0
                || !self.is_plain(value)
                || matches!(def, Def::Constant | Def::Undefined)
                || kept.into_iter().any(|word| argument.has(word))
            {
                continue;
            }
            let size = match def {
                Def::Global(global) => match self.pass.globals.get(global) {
                    Some(Global { constant: true, .. }) => continue,
                    Some(Global { size, .. }) => *size,
                    None => 0,
                },
                _ => self.slots.get(&value).map_or(0, |slot| slot.size),
            };
            pointers.push((self.written(value), size));
        }
        let target = lossy(call.target);
        for some in pointers.chunks(MOST_POINTERS) {
            self.out(inst, inst.span.start, &target, some);
        }
        if written != 0
            && self.pass.is_plain(inst.ty)
            && let (Some(result), Some(after)) = (self.result(inst), after)
        {
            self.out(inst, after, &target, &[(result, 0)]);
        }
    }

    /// Clears the shadow of what an intrinsic may write: a vector that it stores, or all memory.
    fn intrinsic(&mut self, inst: &Inst, call: &Call<'t>, arguments: &[Value]) {
        let has = |word: &[u8]| memchr::memmem::find(call.callee, word).is_some();
        let types = self.function.types();
        let mut all = arguments.iter().filter_map(|&value| self.function.ty(value));
        // An argument of type `i64` is the distance between the parts that are stored.
        let is_distance = |ty| types.with_kind(ty, |kind| matches!(kind, TypeKind::Int(64)));
        let stores = [&b".store"[..], b"compressstore", b"maskstore", b"maskmov"];
        if stores.into_iter().any(has) && !all.clone().any(is_distance) {
            let size = |&value| Some(self.pass.size(self.function.ty(value))?.store);
            let size = arguments.iter().filter_map(size).max().unwrap_or(0);
            return self.clear(inst, arguments, size);
        }
        // These write no variable of the program. A coroutine's code has its own checks.
        let others = [&b"llvm.coro."[..], b"llvm.instrprof.", b".clflush", b".clwb"];
        let element = |ty| {
            types.with_kind(ty, |kind| match kind {
                TypeKind::Vector { element, .. } => element,
                _ => ty,
            })
        };
        let passes = all.any(|ty| types.is_pointer(element(ty)));
        if passes && !others.into_iter().any(has) {
            self.before(inst, "barrier()");
        }
    }

    fn out(&mut self, inst: &Inst, at: usize, target: &str, pointers: &[(String, u64)]) {
        self.pass.table.out.insert(pointers.len());
        let mut call = format!(".out{}(ptr {target}", pointers.len());
        for (pointer, size) in pointers {
            let _ = write!(call, ", ptr {pointer}, i64 {size}");
        }
        call.push(')');
        self.put(inst, at, call);
    }

    fn clear<'v>(&mut self, inst: &Inst, pointers: impl IntoIterator<Item = &'v Value>, size: u64) {
        for &pointer in pointers {
            if self.is_plain(pointer) && size > 0 {
                let pointer = self.written(pointer);
                self.forget(inst, inst.span.start, &pointer, &size.to_string());
            }
        }
    }

    fn set(&mut self, inst: &Inst, tag: Option<TagId>, arguments: &[Value]) {
        let &[to, _, size, ..] = arguments else {
            return self.skip(inst, SkipReason::Unreadable);
        };
        if !self.is_plain(to) {
            return self.skip(inst, SkipReason::AddressSpace);
        }
        if self.is_own(to) {
            return;
        }
        let (pointer, size) = (self.written(to), self.length(inst.span.start, size));
        let tag = self.pass.telling(tag);
        let what = shortened(format!("memset, ptr {pointer}"));
        self.touch(inst, tag, &[Direction::Write], (&pointer, &size), &what);
    }

    fn copy(&mut self, inst: &Inst, access: Option<&Instruction>, arguments: &[Value]) {
        let &[to, from, size, ..] = arguments else {
            return self.skip(inst, SkipReason::Unreadable);
        };
        if !self.is_plain(to) || !self.is_plain(from) {
            return self.skip(inst, SkipReason::AddressSpace);
        }
        let size = self.length(inst.span.start, size);
        let tag = access.and_then(|access| access.tag);
        let entries = access.and_then(|access| self.pass.module.graph().copy(access.copy?));
        let sides = [(from, Direction::Read, "from"), (to, Direction::Write, "to")];
        for (argument, kind, word) in sides {
            if self.is_own(argument) {
                continue;
            }
            let pointer = self.written(argument);
            let what = shortened(format!("copy {word} ptr {pointer}"));
            if tag.is_some() || entries.is_none() {
                let tag = self.pass.telling(tag);
                self.touch(inst, tag, &[kind], (&pointer, &size), &what);
                continue;
            }
            if kind == Direction::Write {
                // The copy also writes the padding between members.
                self.touch(inst, None, &[kind], (&pointer, &size), &what);
            }
            let most = size.parse().unwrap_or(u64::MAX);
            for CopyEntry { offset, size, tag } in entries.iter().flatten() {
                let fits = offset.checked_add(*size).is_some_and(|end| end <= most);
                let Some(tag) = self.pass.telling(Some(*tag)).filter(|_| fits && *size > 0) else {
                    continue;
                };
                let at = format_args!("getelementptr i8, ptr {pointer}, i64 {offset}");
                let place = self.value(inst.span.start, at);
                self.touch(inst, Some(tag), &[kind], (&place, &size.to_string()), &what);
            }
        }
    }

    pub(super) fn length(&mut self, at: usize, length: Value) -> String {
        let value = self.written(length);
        match self.pass.bits(self.function.ty(length)) {
            Some(bits) if bits != 64 && !matches!(self.function.def(length), Def::Integer(0..)) => {
                let cast = if bits < 64 { "zext" } else { "trunc" };
                self.value(at, format_args!("{cast} i{bits} {value} to i64"))
            }
            _ => value,
        }
    }

    fn masked(&mut self, inst: &Inst, tag: Option<TagId>, call: &Call<'t>, arguments: &[Value]) {
        let operations = [
            (&b"load."[..], Direction::Read, false),
            (b"store.", Direction::Write, false),
            (b"gather.", Direction::Read, true),
            (b"scatter.", Direction::Write, true),
        ];
        let operation = &call.callee["llvm.masked.".len()..];
        let known = operations.into_iter().find(|it| operation.starts_with(it.0));
        let Some((_, kind, spread)) = known else {
            if tag.is_some() {
                self.skip(inst, SkipReason::Call);
            }
            return self.outside(inst, call, arguments, None);
        };
        let tag = self.pass.telling(tag);
        if tag.is_none() && kind == Direction::Read {
            return;
        }
        let element = |value: Value| {
            self.pass.sizes.with_kind(self.function.ty(value)?, |kind| match kind {
                TypeKind::Vector { element, .. } => Some(element),
                _ => None,
            })
        };
        let is_mask = |value: &&Value| self.pass.bits(element(**value)) == Some(1);
        let pointer_of = |value| if spread { element(value) } else { self.function.ty(value) };
        let is_pointer = |value: &&Value| self.pass.is_plain(pointer_of(**value));
        let (read, write) = (kind == Direction::Read, kind == Direction::Write);
        let value = if read { arguments.last() } else { arguments.first() };
        let mask = arguments.iter().rev().skip(usize::from(read)).find(is_mask);
        let pointer = arguments.iter().skip(usize::from(write)).find(is_pointer);
        let lanes = value.and_then(|&value| self.lanes(self.function.ty(value)?));
        let (Some(&mask), Some(&pointer), Some((lanes, size))) = (mask, pointer, lanes) else {
            self.skip(inst, SkipReason::Size);
            return self.outside(inst, call, arguments, None);
        };
        let (pointer, mask) = (self.written(pointer), self.written(mask));
        let what = shortened(format!("{} {pointer}", lossy(call.callee)));
        let is_site = tag.is_some() || self.pass.has_constants;
        let site = is_site.then(|| self.site(inst, tag, size, kind, what));
        let call = |pointer: &str, bits: &str| match site {
            Some(site) => format!(
                "masked(ptr {pointer}, i64 {bits}, i64 {size}, i32 {site}, ptr @__tbaa_witness.module)"
            ),
            None => format!("masked_clear(ptr {pointer}, i64 {bits}, i64 {size})"),
        };
        let (at, ty) = (inst.span.start, format!("<{lanes} x i1>"));
        if !spread {
            let bits = self.value(at, format_args!("bitcast {ty} {mask} to i{lanes}"));
            let bits = match lanes {
                64 => bits,
                _ => self.value(at, format_args!("zext i{lanes} {bits} to i64")),
            };
            return self.before(inst, call(&pointer, &bits));
        }
        for lane in 0..lanes {
            let one = format_args!("extractelement <{lanes} x ptr> {pointer}, i64 {lane}");
            let one = self.value(at, one);
            let bit = self.value(at, format_args!("extractelement {ty} {mask}, i64 {lane}"));
            let bit = self.value(at, format_args!("zext i1 {bit} to i64"));
            self.before(inst, call(&one, &bit));
        }
    }

    /// Returns the number of elements of a vector, from 1 to 64, and the size of one in bytes.
    fn lanes(&self, ty: Type) -> Option<(u32, u64)> {
        let (count, element) = self.pass.sizes.with_kind(ty, |kind| match kind {
            TypeKind::Vector { element, count: ElementCount::Fixed(n) } => Some((n, element)),
            _ => None,
        })?;
        let size = self.pass.size(Some(element))?.store;
        ((1..=64).contains(&count) && size > 0).then_some((count, size))
    }
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

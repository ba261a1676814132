//! What a function's text says about the pointers that it accesses.
//!
//! Two accesses are known to be of one place where their pointers are one
//! value, or are computed from one value in the same way. A pointer that is
//! loaded twice is one value if nothing between the loads may have changed it,
//! which is what an optimizer makes of it too: front ends reload at will. All
//! that holds within one block, which runs from beginning to end.

use std::ops::Range;

use super::width;
use tbaa::Oracle;
use tbaa::{Graph, TagId};
use tbaa_ir::{Instruction, Module, Opcode};
use tbaa_types::table::HashMap;

/// Loaded pointers that are remembered at a time, each of which every store
/// must be compared with.
const LOADED: usize = 32;

/// A place in memory, as far as a function's text tells places apart. Equal
/// ones are one place, different ones may be too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Place {
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
    Access(usize, Option<Place>),
}

/// How a place is computed from another.
#[derive(PartialEq, Eq, Hash)]
enum Key<'t> {
    /// A value that is not looked into.
    Value(&'t [u8]),
    /// `getelementptr` of the type, with the indices.
    Element(Place, &'t [u8], &'t [u8]),
}

/// Reads the events of one function after the other.
pub(super) struct Functions<'a> {
    module: &'a Module,
    text: &'a [u8],
    oracle: &'a Oracle<&'a Graph>,
    /// The next instruction of the module.
    next: usize,
}

/// The state of reading one function.
struct Body<'t> {
    places: HashMap<Key<'t>, Place>,
    /// Values that are the address of a place.
    values: HashMap<&'t [u8], Place>,
    /// What memory is known to hold: a place, the tag under which it was
    /// accessed, and the pointer there.
    loaded: Vec<(Place, Option<TagId>, Place)>,
    events: Vec<Event>,
}

impl<'a> Functions<'a> {
    pub(super) fn new(module: &'a Module, text: &'a [u8], oracle: &'a Oracle<&'a Graph>) -> Self {
        Functions { module, text, oracle, next: 0 }
    }

    /// Returns the events of a function; functions must be asked for in order.
    pub(super) fn events(&mut self, function: u32) -> Vec<Event> {
        let span = self.module.function_span(function);
        let instructions = self.module.instructions();
        let end = span.end.min(self.text.len());
        let mut body = Body {
            places: HashMap::default(),
            values: HashMap::default(),
            loaded: Vec::new(),
            events: Vec::new(),
        };
        let mut at = span.start.min(end);
        while at < end {
            let line_end =
                memchr::memchr(b'\n', &self.text[at..end]).map_or(end, |newline| at + newline);
            let line = self.text[at..line_end].trim_ascii();
            let mut listed = false;
            while let Some(instruction) = instructions.get(self.next)
                && instruction.function == function
                && (instruction.offset as usize) < line_end
            {
                body.instruction(self, instruction);
                self.next += 1;
                listed = true;
            }
            if !listed {
                body.line(line);
            }
            at = line_end + 1;
        }
        while instructions.get(self.next).is_some_and(|it| it.function == function) {
            self.next += 1;
        }
        body.events
    }
}

impl<'t> Body<'t> {
    fn instruction(&mut self, functions: &Functions<'t>, instruction: &Instruction) {
        let (text, index) = (functions.text, functions.next);
        if !matches!(instruction.opcode, Opcode::Load | Opcode::Store) {
            self.change(Event::Barrier);
            self.events.push(Event::Access(index, None));
            return;
        }
        // What is accessed through `undef` is nothing, each time another.
        let nothing = |span: &Range<usize>| matches!(&text[span.clone()], b"undef" | b"poison");
        let span = instruction.pointer_span(text).filter(|span| !nothing(span));
        let place = span.as_ref().map(|span| self.place_of(&text[span.clone()]));
        self.events.push(Event::Access(index, place));
        let is_pointer = width::is_pointer(functions.module.access_type(instruction));
        let (Some(place), Some(span)) = (place, span) else {
            if instruction.opcode == Opcode::Store {
                self.loaded.clear();
            }
            return;
        };
        let line = &text[instruction.offset as usize..span.start];
        if instruction.opcode == Opcode::Load {
            if is_pointer && !instruction.volatile {
                self.load(place, instruction.tag, name_in(line));
            }
            return;
        }
        self.loaded.retain(|&(known, tag, _)| {
            let apart = |(stored, tag)| !functions.oracle.may_alias(stored, tag);
            known != place && instruction.tag.zip(tag).is_some_and(apart)
        });
        if let Some(value) = stored_name(line).filter(|_| is_pointer && !instruction.volatile) {
            let value = self.place_of(value);
            self.remember(place, instruction.tag, value);
        }
    }

    /// Takes note of a pointer that is loaded as `result`.
    fn load(&mut self, place: Place, tag: Option<TagId>, result: Option<&'t [u8]>) {
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

    fn remember(&mut self, place: Place, tag: Option<TagId>, value: Place) {
        if self.loaded.len() == LOADED {
            self.loaded.remove(0);
        }
        self.loaded.push((place, tag, value));
    }

    /// Forgets what memory holds.
    fn change(&mut self, event: Event) {
        self.loaded.clear();
        self.events.push(event);
    }

    /// A line on which no access stands.
    fn line(&mut self, line: &'t [u8]) {
        let (result, rest) = match line.strip_prefix(b"%") {
            Some(named) => match memchr::memchr(b'=', named) {
                Some(equals) => (
                    Some(line[..equals + 1].trim_ascii_end()),
                    named[equals + 1..].trim_ascii_start(),
                ),
                None => return,
            },
            None => (None, line),
        };
        let opcode = rest.iter().position(|byte| !byte.is_ascii_lowercase() && *byte != b'_');
        let (opcode, operands) = rest.split_at(opcode.unwrap_or(rest.len()));
        match (opcode, result) {
            (b"getelementptr", Some(result)) => {
                if let Some(place) = self.element(operands) {
                    self.values.insert(result, place);
                }
            }
            (b"bitcast" | b"addrspacecast", Some(result)) => {
                // The operand stands before ` to `.
                let cast = memchr::memmem::find(operands, b" to ").map(|to| &operands[..to]);
                let operand = cast.and_then(|cast| cast.rsplit(|&byte| byte == b' ').next());
                if let Some(operand) = operand.filter(|operand| operand.starts_with(b"%")) {
                    let place = self.place_of(operand);
                    self.values.insert(result, place);
                }
            }
            (b"alloca", Some(result)) => self.slot(result),
            (b"call" | b"tail" | b"musttail" | b"notail" | b"callbr" | b"invoke", _) => {
                if let Some(slot) = self.lifetime(operands) {
                    self.change(Event::Fresh(slot));
                } else if !is_harmless(operands) {
                    self.change(Event::Barrier);
                }
                if matches!(opcode, b"callbr" | b"invoke") {
                    self.change(Event::Barrier);
                }
            }
            (b"fence", _) => self.change(Event::Barrier),
            (b"br" | b"switch" | b"indirectbr" | b"ret" | b"unreachable" | b"resume", None) => {
                self.change(Event::Barrier);
            }
            _ if result.is_none() && is_label(line) => self.change(Event::Barrier),
            _ => {}
        }
    }

    fn place_of(&mut self, pointer: &'t [u8]) -> Place {
        match self.values.get(pointer) {
            Some(&place) => place,
            None => self.intern(Key::Value(pointer)),
        }
    }

    fn intern(&mut self, key: Key<'t>) -> Place {
        let slot = match key {
            Key::Value(_) => None,
            Key::Element(base, ..) => base.slot,
        };
        let next = Place { number: self.places.len() as u32, slot };
        *self.places.entry(key).or_insert(next)
    }

    /// Gives an `alloca` a slot of its own.
    fn slot(&mut self, result: &'t [u8]) {
        let number = self.places.len() as u32;
        let place = Place { number, slot: Some(Slot(number)) };
        self.places.insert(Key::Value(result), place);
        self.values.insert(result, place);
    }

    /// The slot whose lifetime a call begins or ends, from after `call` on.
    fn lifetime(&mut self, call: &'t [u8]) -> Option<Slot> {
        let call = &call[memchr::memmem::find(call, b"@llvm.lifetime.")?..];
        // Before LLVM 22 the size comes first.
        let arguments = &call[..memchr::memchr(b')', call)?];
        let pointer = arguments.rsplit(|&byte| matches!(byte, b' ' | b'(')).next()?;
        self.place_of(pointer).slot
    }

    /// The place that `getelementptr` computes, from after its opcode on.
    fn element(&mut self, operands: &'t [u8]) -> Option<Place> {
        let mut rest = operands.trim_ascii_start();
        while let Some(flag) =
            [&b"inbounds"[..], b"nusw", b"nuw"].iter().find_map(|&flag| rest.strip_prefix(flag))
        {
            rest = flag.trim_ascii_start();
        }
        let (mut ty, mut rest) = split(rest)?;
        // Before LLVM 3.7 the pointer comes first.
        let has_base = |part: &[u8]| {
            let word = part.rsplit(|&byte| byte == b' ').next().unwrap_or_default();
            (word.starts_with(b"%") || word.starts_with(b"@")) && part.len() > word.len()
        };
        let base;
        if has_base(ty) {
            base = ty;
            ty = b"";
        } else {
            (base, rest) = split(rest)?;
        }
        let base = base
            .rsplit(|&byte| byte == b' ')
            .next()
            .filter(|base| base.starts_with(b"%") || base.starts_with(b"@"))?;
        let base = self.place_of(base);
        let end = [memchr::memmem::find(rest, b", !"), memchr::memchr(b';', rest)];
        let end = end.into_iter().flatten().min().unwrap_or(rest.len());
        let indices = rest[..end].trim_ascii_end();
        let is_zero = |index: &[u8]| index.trim_ascii_end().ends_with(b" 0");
        if indices.split(|&byte| byte == b',').all(is_zero) {
            return Some(base);
        }
        Some(self.intern(Key::Element(base, ty, indices)))
    }
}

/// The first name of a value in a line: `%x` of `store ptr %x, ptr `.
fn name_in(line: &[u8]) -> Option<&[u8]> {
    let start = memchr::memchr(b'%', line)?;
    let rest = &line[start..];
    let end = match rest.get(1) {
        Some(b'"') => memchr::memchr(b'"', &rest[2..])? + 3,
        _ => rest.iter().position(|byte| matches!(byte, b' ' | b',')).unwrap_or(rest.len()),
    };
    Some(&rest[..end])
}

/// The stored value in `store %T* %x, %T** `, unless it is a constant. The name
/// of a typed pointer's type may be a name with a `%` itself.
fn stored_name(line: &[u8]) -> Option<&[u8]> {
    let (value, _) = split(line)?;
    let name = value.rsplit(|&byte| byte == b' ').next()?;
    // What ends with a quote is a name whose beginning a space may have cut off.
    (name.starts_with(b"%") && !name.ends_with(b"\"")).then_some(name)
}

/// Splits at the first comma outside brackets and strings.
fn split(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (mut depth, mut quoted) = (0_usize, false);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                return Some((text[..at].trim_ascii(), text[at + 1..].trim_ascii()));
            }
            _ => {}
        }
    }
    None
}

/// How the names of such intrinsics begin, after `llvm.`.
const HARMLESS: &str = "\
    abs. annotation. assume( bitreverse. bswap. ceil. copysign. cos. ctlz. ctpop. cttz. \
    dbg. exp. exp2. expect. experimental.noalias.scope.decl( fabs. floor. fma. fmuladd. \
    fptosi.sat. fptoui.sat. fshl. fshr. is.constant. is.fpclass. log. log10. log2. \
    masked.gather. masked.load. maximum. maxnum. minimum. minnum. nearbyint. objectsize. \
    pow. powi. prefetch. pseudoprobe( ptrmask. rint. round. roundeven. sadd. scmp. sin. \
    smax. smin. smul. sqrt. sshl. ssub. trunc. uadd. ucmp. umax. umin. umul. ushl. usub. \
    vector.reduce.";

/// Whether a call leaves memory alone: an intrinsic that only computes or
/// informs. Those of targets store too, and some call what they are given.
fn is_harmless(call: &[u8]) -> bool {
    // What is called comes before the arguments.
    let Some(at) = call.iter().position(|&byte| byte == b'@') else { return false };
    let Some(name) = call[at..].strip_prefix(b"@llvm.") else { return false };
    // A parenthesis after a name opens the arguments of a call through a
    // pointer; those of a function type follow a space.
    if call[..at].windows(2).any(|pair| pair[1] == b'(' && pair[0] != b' ') {
        return false;
    }
    HARMLESS.split(' ').any(|harmless| name.starts_with(harmless.as_bytes()))
}

fn is_label(line: &[u8]) -> bool {
    let line = match memchr::memchr(b';', line) {
        Some(comment) => line[..comment].trim_ascii_end(),
        None => line,
    };
    line.ends_with(b":")
}

#[cfg(test)]
mod tests {
    use super::{is_harmless, stored_name};

    #[test]
    fn calls() {
        for call in [
            " void @llvm.dbg.value(metadata ptr %p)",
            " i32 @llvm.smax.i32(i32 %a, i32 %b)",
            " void @llvm.assume(i1 true) [ \"align\"(ptr %p, i64 8) ]",
        ] {
            assert!(is_harmless(call.as_bytes()), "{call}");
        }
        for call in [
            " void @g(ptr @llvm.dbg.value)",
            " void %g(ptr @llvm.dbg.value)",
            " void @llvm.memset.p0.i64(ptr %p, i8 0, i64 8, i1 false)",
            " void @llvm.aarch64.neon.st2.v4f32.p0(<4 x float> %x, <4 x float> %x, ptr %p)",
            " token (...) @llvm.experimental.gc.statepoint.p0(i64 0, i32 0, ptr @g)",
            " void (...) @llvm.experimental.patchpoint.void(i64 0, i32 15, ptr @g, i32 0)",
        ] {
            assert!(!is_harmless(call.as_bytes()), "{call}");
        }
    }

    #[test]
    fn stored() {
        for (line, name) in [
            ("store ptr %x, ptr ", Some("%x")),
            ("store %S* %x, %S** ", Some("%x")),
            ("store { i32, i8 }* %x, { i32, i8 }** ", Some("%x")),
            ("store i32 (i32, i8)* %0, i32 (i32, i8)** ", Some("%0")),
            ("store %S* null, %S** ", None),
            ("store %S* @g, %S** ", None),
            ("store %\"a, b\"* %\"x y\", %\"a, b\"** ", None),
        ] {
            assert_eq!(stored_name(line.as_bytes()), name.map(str::as_bytes), "{line}");
        }
    }
}

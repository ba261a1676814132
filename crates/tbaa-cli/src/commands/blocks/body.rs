//! A function's body as its text says it: blocks, branches, and where values
//! come from.
//!
//! It is read as LLVM prints it, an instruction or a label a line.

use std::collections::HashMap;
use std::ops::Range;

use tbaa_ir::{Instruction, Module, Sizes};

use crate::find::in_function;

/// How many definitions are followed from a pointer to what it is derived from.
const DEPTH: usize = 16;

/// Something that may read or write memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// Index into the module's instructions.
    Access(usize),
    /// A call, or a fence: bytes from the start of the text.
    Other(usize),
}

impl Event {
    pub(super) fn access(self) -> Option<usize> {
        match self {
            Event::Access(index) => Some(index),
            Event::Other(_) => None,
        }
    }
}

pub(super) struct Block<'t> {
    /// Without `%`; empty for the first one if the text does not name it.
    pub(super) label: &'t str,
    pub(super) events: Vec<Event>,
    pub(super) successors: Vec<usize>,
}

/// Where the value of a name comes from.
#[derive(Clone, Copy)]
struct Definition<'t> {
    block: usize,
    /// What follows the `=`.
    text: &'t str,
}

pub(super) struct Body<'t> {
    pub(super) blocks: Vec<Block<'t>>,
    definitions: HashMap<&'t str, Definition<'t>>,
    /// The parameters that are `noalias`.
    noalias: Vec<&'t str>,
    /// Values that are taken for equal to others, by their names with `%`.
    equal: HashMap<&'t str, &'t str>,
    sizes: &'t Sizes,
}

/// What a pointer is derived from, and how far it is from there.
#[derive(PartialEq, Eq, Clone, Debug)]
pub(super) struct Place {
    pub(super) root: String,
    pub(super) offset: i64,
    /// Whether the offset is all that lies between.
    pub(super) exact: bool,
}

impl<'t> Body<'t> {
    pub(super) fn read(module: &Module, text: &'t [u8], sizes: &'t Sizes, function: u32) -> Self {
        let span = module.function_span(function);
        let mut body = Body {
            blocks: Vec::new(),
            definitions: HashMap::new(),
            noalias: Vec::new(),
            equal: HashMap::new(),
            sizes,
        };
        body.parameters(text, span.start);
        let mut accesses = in_function(module, function)
            .map(|index| (module.instructions()[index].offset as usize, index))
            .peekable();
        let mut targets: Vec<Vec<&str>> = Vec::new();
        let mut at = span.start;
        let mut ended = false;
        for line in text[span].split_inclusive(|&byte| byte == b'\n') {
            let start = at + (line.len() - line.trim_ascii_start().len());
            at += line.len();
            let Ok(line) = std::str::from_utf8(line.trim_ascii()) else { continue };
            if let Some(label) = label(line) {
                body.blocks.push(Block { label, events: Vec::new(), successors: Vec::new() });
                targets.push(Vec::new());
                ended = false;
                continue;
            }
            if line.is_empty() || line.starts_with([';', '#']) {
                continue;
            }
            if body.blocks.is_empty() {
                body.blocks.push(Block { label: "", events: Vec::new(), successors: Vec::new() });
                targets.push(Vec::new());
            }
            let block = body.blocks.len() - 1;
            let (name, rest) = definition(line);
            let word = opcode(rest);
            if !ended {
                if let Some(name) = name {
                    body.definitions.insert(name, Definition { block, text: rest });
                }
                if let Some((_, index)) = accesses.next_if(|&(offset, _)| offset == start) {
                    body.blocks[block].events.push(Event::Access(index));
                } else if matches!(word, "call" | "invoke" | "callbr" | "fence") {
                    body.blocks[block].events.push(Event::Other(start));
                }
                ended = is_terminator(word);
            }
            // A terminator may go on over lines, up to the next label.
            if ended {
                targets[block].extend(labels(line));
            }
        }
        body.join(&targets);
        body
    }

    fn join(&mut self, targets: &[Vec<&str>]) {
        let numbers: HashMap<&str, usize> =
            self.blocks.iter().enumerate().map(|(index, block)| (block.label, index)).collect();
        for (block, targets) in self.blocks.iter_mut().zip(targets) {
            block.successors = targets.iter().filter_map(|&it| numbers.get(it).copied()).collect();
            block.successors.sort_unstable();
            block.successors.dedup();
        }
    }

    /// Finds the `noalias` parameters in the header before the body.
    fn parameters(&mut self, text: &'t [u8], start: usize) {
        let header = memrchr_line(text, start);
        let Ok(header) = std::str::from_utf8(&text[header]) else { return };
        for parameter in header.split(',').filter(|it| it.contains(" noalias ")) {
            let name = parameter.rsplit('%').next().unwrap_or_default();
            self.noalias.push(&name[..word_len(name)]);
        }
    }

    /// The block that computes a value; `None` for a parameter or a global.
    fn block_of(&self, value: &str) -> Option<usize> {
        Some(self.definitions.get(value.strip_prefix('%')?)?.block)
    }

    /// The block in which each load is, by the name of its value. A value that
    /// takes a load's place may take its name.
    pub(super) fn loads(&self) -> HashMap<String, String> {
        let place = |(&name, definition): (&&str, &Definition<'_>)| {
            (name.to_owned(), self.blocks[definition.block].label.to_owned())
        };
        let loads = self.definitions.iter().filter(|(_, it)| opcode(it.text) == "load");
        loads.map(place).collect()
    }

    /// The text of a value's definition, from the opcode on.
    pub(super) fn definition(&self, value: &str) -> Option<&'t str> {
        Some(self.definitions.get(value.strip_prefix('%')?)?.text)
    }

    /// Returns whether a pointer is the same in all turns of a loop: nothing but
    /// its offset is computed there.
    pub(super) fn is_invariant(&self, pointer: &str, in_loop: &[bool]) -> bool {
        let mut pending = vec![pointer.to_owned()];
        let mut steps = 0;
        while let Some(value) = pending.pop() {
            steps += 1;
            if steps > DEPTH * 4 {
                return false;
            }
            let Some(block) = self.block_of(&value) else { continue };
            if !in_loop[block] {
                continue;
            }
            let text = self.definition(&value).unwrap_or_default();
            if !matches!(opcode(text), "getelementptr" | "bitcast" | "addrspacecast") {
                return false;
            }
            pending.extend(values(text).map(str::to_owned));
        }
        true
    }

    /// Two pointers with equal keys are equal where both are defined.
    pub(super) fn key(&self, pointer: &str) -> String {
        match self.definition(pointer) {
            Some(text) if opcode(text) == "getelementptr" => {
                let place = self.place(pointer);
                if place.exact {
                    return format!("{}{:+}", place.root, place.offset);
                }
                let skipped = ["inbounds ", "nuw ", "nusw "];
                let text = text.split(", !").next().unwrap_or(text).to_owned();
                skipped.iter().fold(text, |text, word| text.replace(word, ""))
            }
            _ => format!("{}+0", self.equal.get(pointer).unwrap_or(&pointer)),
        }
    }

    /// The value that a pointer is computed from by offsets alone.
    pub(super) fn source(&self, pointer: &'t str) -> &'t str {
        let mut pointer = pointer;
        for _ in 0..DEPTH {
            let text = self.definition(pointer).filter(|it| opcode(it) == "getelementptr");
            match text.and_then(|text| values(text).next()) {
                Some(base) => pointer = base,
                None => break,
            }
        }
        pointer
    }

    /// Takes a value for equal to an earlier one from now on.
    pub(super) fn equate(&mut self, value: &'t str, earlier: &'t str) {
        let earlier = self.equal.get(earlier).copied().unwrap_or(earlier);
        self.equal.insert(value, earlier);
    }

    /// Follows a pointer to what it is derived from.
    pub(super) fn place(&self, pointer: &str) -> Place {
        let mut place = Place { root: pointer.to_owned(), offset: 0, exact: true };
        for _ in 0..DEPTH {
            if let Some(&equal) = self.equal.get(&*place.root) {
                place.root = equal.to_owned();
            }
            let Some(text) = self.definition(&place.root) else { break };
            if opcode(text) != "getelementptr" {
                break;
            }
            let Some((base, offset)) = constant_step(text, self.sizes) else {
                let Some(base) = values(text).next() else { break };
                place = Place { root: base.to_owned(), offset: 0, exact: false };
                continue;
            };
            place.root = base.to_owned();
            place.offset = place.offset.saturating_add(offset);
        }
        place
    }

    /// Compares the places of two accesses, whatever their types: `Some(true)` if
    /// they share a byte, `Some(false)` if they lie at other bytes from one place
    /// or in objects of their own, `None` if that is not known.
    pub(super) fn meet(&self, a: (&str, Option<u64>), b: (&str, Option<u64>)) -> Option<bool> {
        let [place_a, place_b] = [self.place(a.0), self.place(b.0)];
        if self.key(a.0) == self.key(b.0) {
            return Some(true);
        }
        if place_a.root == place_b.root {
            if !place_a.exact || !place_b.exact {
                return None;
            }
            let ends = |place: &Place, size: u64| place.offset.saturating_add_unsigned(size);
            return Some(
                ends(&place_a, a.1?) > place_b.offset && ends(&place_b, b.1?) > place_a.offset,
            );
        }
        let [a, b] = [&*place_a.root, &*place_b.root].map(|root| self.object(root));
        use Object::{Global, Parameter, Unknown};
        // LLVM: `isIdentifiedObject`, `isIdentifiedFunctionLocal`.
        let is_open = matches!(
            (a, b),
            (Unknown, _) | (_, Unknown) | (Parameter, Parameter | Global) | (Global, Parameter)
        );
        if is_open { None } else { Some(false) }
    }

    /// Bytes that an instruction accesses, if that is known.
    pub(super) fn size(&self, module: &Module, instruction: &Instruction) -> Option<u64> {
        Some(self.sizes.of(module.access_type(instruction))?.store)
    }

    fn object(&self, root: &str) -> Object {
        let Some(name) = root.strip_prefix('%') else {
            return if root.starts_with('@') { Object::Global } else { Object::Unknown };
        };
        match self.definition(root) {
            Some(text) if opcode(text) == "alloca" => Object::Local,
            Some(_) => Object::Unknown,
            None if self.noalias.contains(&name) => Object::Noalias,
            None => Object::Parameter,
        }
    }
}

/// What a pointer leads to that is derived from nothing else.
#[derive(Clone, Copy)]
enum Object {
    /// An `alloca`.
    Local,
    Global,
    /// May lead to a global variable, or where another leads.
    Parameter,
    Noalias,
    Unknown,
}

/// The line that ends at the `{` of the body.
fn memrchr_line(text: &[u8], start: usize) -> Range<usize> {
    let before = &text[..start];
    before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1)..start
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-$._".contains(c)
}

fn word_len(text: &str) -> usize {
    if let Some(quoted) = text.strip_prefix('"') {
        return quoted.find('"').map_or(text.len(), |end| end + 2);
    }
    text.find(|c| !is_word(c)).unwrap_or(text.len())
}

/// The name of a label that stands on a line, as LLVM writes it after `%`.
fn label(line: &str) -> Option<&str> {
    // So LLVM wrote the labels of unnamed blocks up to version 8.
    if let Some(rest) = line.strip_prefix("; <label>:") {
        return Some(&rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())]);
    }
    let len = word_len(line);
    (len > 0 && line[len..].starts_with(':')).then(|| &line[..len])
}

/// The name before a `=`, and what follows it or stands alone.
fn definition(line: &str) -> (Option<&str>, &str) {
    let Some(rest) = line.strip_prefix('%') else { return (None, line) };
    let name = &rest[..word_len(rest)];
    match rest[name.len()..].strip_prefix(" = ") {
        Some(rest) => (Some(name), rest),
        None => (None, line),
    }
}

/// The opcode that a text begins with, `tail` and the like passed over.
pub(super) fn opcode(text: &str) -> &str {
    let mut words = text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    match first {
        "tail" | "musttail" | "notail" => words.next().unwrap_or_default(),
        _ => first,
    }
}

/// LLVM: `Instruction::isTerminator`.
fn is_terminator(word: &str) -> bool {
    matches!(
        word,
        "br" | "switch"
            | "indirectbr"
            | "invoke"
            | "callbr"
            | "ret"
            | "unreachable"
            | "resume"
            | "cleanupret"
            | "catchret"
            | "catchswitch"
            | "unwind"
    )
}

/// The `%x` of every `label %x`.
fn labels(text: &str) -> impl Iterator<Item = &str> {
    text.split("label %").skip(1).map(|rest| &rest[..word_len(rest)])
}

/// Every `%x` and `@x` in a text.
fn values(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.char_indices().filter(|(_, c)| matches!(c, '%' | '@'));
    starts.filter_map(|(at, _)| {
        let len = word_len(&text[at + 1..]);
        (len > 0).then(|| &text[at..at + 1 + len])
    })
}

/// The base and the bytes of a `getelementptr` by one constant.
fn constant_step<'t>(text: &'t str, sizes: &Sizes) -> Option<(&'t str, i64)> {
    let mut rest = text.strip_prefix("getelementptr ")?;
    while let Some(after) =
        ["inbounds ", "nuw ", "nusw "].iter().find_map(|it| rest.strip_prefix(it))
    {
        rest = after;
    }
    let mut parts = rest.split(", ");
    let size = i64::try_from(sizes.of(parts.next()?.as_bytes())?.alloc).ok()?;
    let base = parts.next()?.strip_prefix("ptr ")?;
    let index: i64 = parts.next()?.split(' ').nth(1)?.parse().ok()?;
    let is_last = parts.next().is_none_or(|part| part.starts_with('!'));
    (is_last && base.starts_with(['%', '@'])).then_some((base, index.checked_mul(size)?))
}

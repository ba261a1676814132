//! Scans a function for instructions that access memory, and their attachments.

use std::num::NonZeroU32;

use super::instruction::{self, Accessed, Start};
use super::module::Function;
use super::node::{Key, reference};
use super::scan::{Attachment, RECENT, Scan};
use super::stops::{ANGLES, BODY, BRACKETS, Stops, deeper};
use crate::{Instruction, Opcode, Result};
use tbaa_lex::lexer::{Lexer, is_word, without_comments};
use tbaa_lex::source::shortened;

impl<'t> Scan<'t> {
    /// Reads a function, from after `define` to the end of its body.
    pub(super) fn function(&mut self, lexer: &mut Lexer<'t>) -> Result<()> {
        let head = (lexer.at - b"define".len()) as u32;
        lexer.until(b"@", "a function header")?;
        if !lexer.eat(b"@") {
            return Err(lexer.expected("`@` and the function's name").into());
        }
        let name = lexer.name()?;
        to_body(&mut self.nodes, lexer)?;
        let function = self.module.functions.len() as u32;
        let start = lexer.at as u32;
        self.module.functions.push(Function { name: name.into(), head, start, end: start });
        lexer.at = self.body(lexer.at, function)?;
        self.module.functions[function as usize].end = lexer.at as u32 - 1;
        Ok(())
    }

    /// Scans a function's body, from after its `{`. Returns the offset after its `}`.
    fn body(&mut self, mut at: usize, function: u32) -> Result<usize> {
        let text = self.text;
        let mut stops = Stops::<BODY>::default();
        let mut depth = 0_usize;
        let mut at_start = true;
        let mut current =
            Current { function, index: 0, next: 0, opcode: Opcode::Other, offset: 0, at: None };
        loop {
            if !at_start {
                at = stops.next_in_body(text, at, &mut depth);
                at_start = depth == 0 && text.get(at) == Some(&b'\n');
            }
            if at_start {
                at = space(text, at);
                if let Some(start) = instruction::printed(text, at) {
                    self.started(&mut current, at, &start);
                    at = start.after;
                    at_start = false;
                    continue;
                }
            }
            // Copy the position: then `at` itself can stay in a register.
            let mut lexer = Lexer::new(text, at);
            let Some(byte) = lexer.peek() else {
                let name = shortened(&self.module.functions[function as usize].name);
                return Err(lexer.truncated(format!("the body of function @{name}")).into());
            };
            // No `match`: the next byte is hard to predict, and then a jump table is slowest.
            if at_start && byte.is_ascii_digit() {
                // It is probably a label. An instruction may follow it.
                lexer.word();
                at_start = lexer.eat(b":");
                at = lexer.at;
            } else if matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}') {
                if byte == b'}' && depth == 0 {
                    return Ok(at + 1);
                }
                depth = deeper(depth, byte);
                at_start &= depth == 0;
                at += 1;
            } else if byte == b'!' {
                at += 1;
                at_start = false;
                // `tbaa` begins with a `t`, or with an escape that encodes it.
                if matches!(text.get(at), Some(b't' | b'\\')) {
                    lexer.at = at;
                    at_start = self.attachment(&mut lexer, &mut current)?;
                    at = lexer.at;
                }
            } else {
                (at, at_start) = self.within(lexer, &mut current, at_start)?;
            }
        }
    }

    /// Skips a comment, a string, a named label, the start of an instruction, or another byte.
    /// Returns the offset to go on at, and whether an instruction may start there.
    #[inline]
    fn within(
        &mut self,
        mut lexer: Lexer<'t>,
        current: &mut Current,
        at_start: bool,
    ) -> Result<(usize, bool)> {
        let at = lexer.at;
        let byte = lexer.peek();
        if matches!(byte, Some(b';' | b'/')) && lexer.comment()? {
            return Ok((lexer.at, at_start));
        }
        if at_start {
            let start = instruction::start(&mut lexer)?;
            if let Some(start) = &start {
                self.started(current, at, start);
            }
            // An instruction may follow a label directly.
            let is_label = start.is_none() && self.text[lexer.at - 1] == b':';
            return Ok((lexer.at, is_label));
        }
        match byte {
            Some(b'"') => {
                lexer.quoted()?;
                Ok((lexer.at, false))
            }
            // The `=` may follow the result of an instruction that does not start its line.
            Some(b'=') => {
                Ok(result_before(self.text, at).map_or((at + 1, false), |result| (result, true)))
            }
            // Any other byte, such as a `/` that begins no comment.
            _ => Ok((at + 1, false)),
        }
    }

    /// Sets `current` to the instruction at `at`, and lists it if it accesses memory.
    #[inline]
    fn started(&mut self, current: &mut Current, at: usize, start: &Start) {
        current.opcode = start.opcode;
        current.index = current.next;
        current.next += 1;
        current.offset = at;
        current.at = None;
        if let Some(access) = instruction::access(start.opcode, Lexer::new(self.text, start.after))
        {
            self.instruction(current, access);
        }
    }

    /// Adds the instruction to the module's list if it is not there yet. Returns its index.
    fn instruction(&mut self, current: &mut Current, access: Accessed<'t>) -> usize {
        if let Some(at) = current.at {
            return at;
        }
        let at = self.module.instructions.len();
        let ty = self.ty(access.ty);
        self.module.instructions.push(Instruction {
            function: current.function,
            index: current.index,
            opcode: current.opcode,
            volatile: access.volatile,
            atomic: access.atomic,
            tag: None,
            copy: None,
            offset: current.offset as u32,
            tag_offset: None,
            ty,
        });
        current.at = Some(at);
        at
    }

    /// Returns the index of a type in `Module::types`. A small cache avoids most searches.
    fn ty(&mut self, ty: &[u8]) -> u32 {
        let types = &mut self.module.types;
        let (Some(first), Some(last)) = (ty.first(), ty.last()) else { return 0 };
        let recent = &mut self.recent_types[usize::from(first ^ last ^ ty.len() as u8) % RECENT];
        if *types[*recent as usize] != *ty {
            *recent = match types.get_index_of(ty) {
                Some(index) => index,
                None => types.insert_full(ty.into()).0,
            } as u32;
        }
        *recent
    }

    /// Reads the name after a `!`, and the node after `tbaa` or `tbaa.struct`. Returns whether the
    /// name is one of these: then an instruction may start after the node.
    fn attachment(&mut self, lexer: &mut Lexer<'t>, current: &mut Current) -> Result<bool> {
        let mut copy = false;
        if lexer.rest().starts_with(b"tbaa !") {
            lexer.at += 5;
        } else {
            match &*lexer.metadata_name() {
                b"tbaa" => {}
                b"tbaa.struct" => copy = true,
                _ => return Ok(false),
            }
            lexer.skip_space()?;
        }
        let offset = lexer.at;
        if lexer.peek() != Some(b'!') {
            return Err(lexer.cut_or("a metadata node after `!tbaa`", "an attachment").into());
        }
        let wanted = "a metadata number or `!{` after `!tbaa`";
        let key = reference(lexer)?.ok_or_else(|| lexer.cut_or(wanted, "an attachment"))?;
        let instruction = self.instruction(current, Accessed::default());
        if !copy {
            self.module.instructions[instruction].tag_offset = NonZeroU32::new(offset as u32);
        }
        let known = match key {
            Key::Number(number) if !copy => self.attached.get(number),
            _ => None,
        };
        let attachment = known.unwrap_or_else(|| {
            self.attachments.push(Attachment { key, offset, copy });
            let attachment = NonZeroU32::MIN.saturating_add(self.attachments.len() as u32 - 1);
            if let (Key::Number(number), false) = (key, copy) {
                self.attached.insert(number, attachment);
            }
            attachment
        });
        self.uses.push((instruction as u32, attachment.get() - 1));
        Ok(true)
    }
}

/// Returns the offset of the `%` in `%x =`, given the offset of the `=`.
#[cold]
fn result_before(text: &[u8], at: usize) -> Option<usize> {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
    let end = text[..at].iter().rposition(|byte| !blank(byte))? + 1;
    let start = text[..end].iter().rposition(|&byte| !is_word(byte))?;
    (text[start] == b'%' && start + 1 < end).then_some(start)
}

#[inline]
fn space(text: &[u8], mut at: usize) -> usize {
    if text[at..].starts_with(b"\n  ") {
        at += 3;
    }
    // LLVM prints comments after labels far to the right.
    while text[at..].starts_with(&[b' '; 8]) {
        at += 8;
    }
    while let Some(b' ' | b'\t' | b'\r' | b'\n') = text.get(at) {
        at += 1;
    }
    at
}

/// The instruction that is being scanned.
struct Current {
    function: u32,
    index: u32,
    next: u32,
    opcode: Opcode,
    offset: usize,
    /// Its index in the module's list, if it is there.
    at: Option<usize>,
}

/// Skips a function's header, from after the name through the `{` of the body. Metadata nodes, and
/// constants after `prefix`, `prologue` and `personality`, may contain other braces.
fn to_body(stops: &mut Stops<{ BRACKETS | ANGLES }>, lexer: &mut Lexer<'_>) -> Result<()> {
    let mut in_constant = false;
    loop {
        let passed = without_comments(stops.until_brace(lexer, "a function header")?);
        if lexer.peek() != Some(b'{') {
            return Err(lexer.expected("`{` and the function's body").into());
        }
        let opens = [&b"prefix"[..], b"prologue", b"personality"]
            .iter()
            .filter_map(|&clause| passed.strip_suffix(clause))
            // A name may end like a keyword: `personality ptr @rust_eh_personality`.
            .any(|before| before.last().is_none_or(u8::is_ascii_whitespace));
        if opens || in_constant && passed.is_empty() || passed.ends_with(b"!") {
            stops.bracketed(lexer, "a function header")?;
            // The braces of the constant's value may follow those of its type.
            in_constant = opens;
        } else {
            lexer.at += 1;
            return Ok(());
        }
    }
}

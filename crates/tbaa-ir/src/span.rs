//! Finds text ranges inside an instruction or a node, such as that of an operand.
//!
//! A [`Module`] stores the offsets at which instructions, their tags and nodes begin, but no ranges
//! inside them. For a diagnostic, these functions read the text again from such an offset.

use std::{borrow::Cow, ops::Range};

use super::instruction;
use super::node::{NodeDefinition, Overflow, operand, reference};
use crate::{Instruction, Module};
use tbaa_lex::lexer::Lexer;

impl Module<'_> {
    /// Finds the pointer through which an instruction accesses memory: `%p`, `@g`, or a constant
    /// such as `getelementptr (i8, ptr @g, i64 8)`. For `llvm.memcpy`, `memmove` and `memset` it is
    /// the destination.
    ///
    /// Returns `None` for other calls, for instructions that do not access memory, and if no
    /// pointer is found within 4,096 bytes.
    ///
    /// ```
    /// let text = b"define void @f(ptr %p) {\n  store i32 0, ptr %p, align 4\n  ret void\n}\n";
    /// let module = tbaa_ir::read(text)?;
    /// let pointer = module.pointer_span(&module.instructions()[0]).unwrap();
    /// assert_eq!(&text[pointer], b"%p");
    /// # Ok::<(), tbaa_ir::TextError>(())
    /// ```
    pub fn pointer_span(&self, instruction: &Instruction) -> Option<Range<usize>> {
        let mut lexer = at(&self.text, instruction.offset as usize)?;
        let start = instruction::start(&mut lexer).ok()??;
        instruction::pointer(start.opcode, Lexer::new(&self.text, start.after))
    }

    /// Finds the name of an instruction's result, such as `%x`; `None` if it has no result.
    pub fn result_span(&self, instruction: &Instruction) -> Option<Range<usize>> {
        let mut lexer = at(&self.text, instruction.offset as usize)?;
        let start = lexer.at;
        lexer.eat(b"%").then_some(())?;
        lexer.skip_name().ok()?;
        Some(start..lexer.at)
    }

    /// Returns whether an instruction is an `invoke` or a `callbr`.
    pub fn ends_block(&self, instruction: &Instruction) -> bool {
        let is_end = || {
            let mut lexer = at(&self.text, instruction.offset as usize)?;
            let start = instruction::start(&mut lexer).ok()??;
            let head = &self.text[..start.after];
            Some(head.ends_with(b"invoke") || head.ends_with(b"callbr"))
        };
        instruction.opcode == super::Opcode::Call && is_end() == Some(true)
    }

    /// Finds the reference after `!tbaa`, such as `!5` or `!{!1, !1, i64 0}`.
    pub fn tag_span(&self, instruction: &Instruction) -> Option<Range<usize>> {
        let mut lexer = at(&self.text, instruction.tag_offset?.get() as usize)?;
        let start = lexer.at;
        (lexer.peek()? == b'!').then_some(())?;
        reference(&mut lexer).ok()??;
        Some(start..lexer.at)
    }

    /// Finds the node whose `!` is at `offset` (see [`offset_of`](Self::offset_of)): a definition
    /// `!4 = ...` or an inline node.
    ///
    /// ```
    /// let module = tbaa_ir::read(br#"!0 = !{!"int", !1} !1 = !{!"root"}"#)?;
    /// assert_eq!(module.node_span(0), Some(0..18));
    /// assert_eq!(module.operand_span(0, 1), Some(15..17));
    /// # Ok::<(), tbaa_ir::TextError>(())
    /// ```
    pub fn node_span(&self, offset: usize) -> Option<Range<usize>> {
        let mut lexer = body(&self.text, offset)?;
        if lexer.peek()? != b'{' {
            lexer.word();
            (lexer.peek()? == b'(').then_some(())?;
        }
        lexer.bracketed("a metadata node").ok()?;
        Some(offset..lexer.at)
    }

    /// Finds the operand `position` (from 0) of the node `!{...}` whose `!` is at `offset`. The
    /// range excludes comments around the operand. Takes time linear in the node's text.
    pub fn operand_span(&self, offset: usize, position: usize) -> Option<Range<usize>> {
        let mut lexer = body(&self.text, offset)?;
        lexer.eat(b"{").then_some(())?;
        for _ in 0..position {
            operand(&mut lexer, 0, Overflow::Keep).ok()?;
            lexer.token(b",")?;
        }
        lexer.skip_space().ok()?;
        // LLVM before 3.6 writes `metadata` before a string or node.
        if lexer.eat_word(b"metadata") {
            lexer.skip_space().ok()?;
        }
        let start = lexer.at;
        operand(&mut lexer, 0, Overflow::Keep).ok()?;
        Some(start..last_token(&self.text, start, lexer.at)?)
    }
}

/// Returns the end of an operand's last token, so that comments after it are excluded.
pub(super) fn last_token(text: &[u8], start: usize, end: usize) -> Option<usize> {
    let (mut lexer, mut last) = (Lexer::new(&text[..end], start), start);
    loop {
        lexer.skip_space().ok()?;
        match lexer.peek() {
            _ if lexer.at >= end => return Some(last),
            Some(b'"') => drop(lexer.quoted().ok()?),
            _ => lexer.at += 1,
        }
        last = lexer.at;
    }
}

/// Reads the name of the named metadata whose `!` is at `offset`, and finds the range of its
/// definition. The module's reader has already accepted this text.
pub(super) fn named_span(text: &[u8], offset: usize) -> Option<(Cow<'_, [u8]>, Range<usize>)> {
    let mut lexer = at(text, offset)?;
    lexer.eat(b"!").then_some(())?;
    let name = lexer.metadata_name();
    lexer.until(b"{", "named metadata").ok()?;
    lexer.bracketed("a metadata node").ok()?;
    Some((name, offset..lexer.at))
}

/// Returns a lexer at the `{` of the node whose `!` is at `offset`. For a specialised node, the
/// lexer is at its name, such as `DIFile`.
pub(super) fn body(text: &[u8], offset: usize) -> Option<Lexer<'_>> {
    let mut lexer = at(text, offset)?;
    lexer.eat(b"!").then_some(())?;
    lexer.skip_space().ok()?;
    if lexer.peek()?.is_ascii_digit() {
        lexer.number().ok()?;
        // A reference `!4` is not a definition.
        lexer.skip_space().ok()?;
        (lexer.peek()? == b'=').then_some(())?;
        lexer.at = NodeDefinition::read(&mut lexer).ok()?.body;
        if lexer.peek()? == b'!' {
            lexer.at += 1;
        }
    }
    Some(lexer)
}

fn at(text: &[u8], offset: usize) -> Option<Lexer<'_>> {
    (offset < text.len()).then(|| Lexer::new(text, offset))
}

//! Finds the metadata attachments of an instruction, and where another can be added.

use std::{borrow::Cow, ops::Range};

use super::instruction;
use super::node::reference;
use crate::Opcode;
use tbaa_lex::lexer::{Lexer, words};

/// The attachments of an instruction, in the order of the text.
pub(super) struct Attachments<'t> {
    pub(super) list: Vec<Attached<'t>>,
    /// The offset in the text of the end of the instruction.
    pub(super) end: usize,
}

/// An attachment such as `, !tbaa !5`.
pub(super) struct Attached<'t> {
    /// The offset in the text of the comma before it.
    pub(super) comma: usize,
    /// The offset of its `!`.
    pub(super) start: usize,
    /// The name without the `!`, with escapes resolved.
    pub(super) kind: Cow<'t, [u8]>,
    pub(super) node: Range<usize>,
}

/// Reads the attachments of the instruction at `offset`; `None` if its end cannot be found.
/// The grammar in LLVM: `LLParser::parseInstructionMetadata`. A comma precedes each attachment, and
/// only an alignment may be between or after them.
pub(super) fn attachments(text: &[u8], offset: usize) -> Option<Attachments<'_>> {
    let mut lexer = Lexer::new(text, offset);
    let start = instruction::start(&mut lexer).ok()??;
    lexer.at = start.after;
    match operands(start.opcode, lexer) {
        Some(end) => lexer.at = end,
        // The operands cannot be read, but the first attachment shows where they end.
        None => to_attachment(&mut lexer)?,
    }
    let mut found = Attachments { list: Vec::new(), end: lexer.at };
    loop {
        lexer.skip_space().ok()?;
        let comma = lexer.at;
        if !lexer.eat(b",") {
            return Some(found);
        }
        lexer.skip_space().ok()?;
        let start = lexer.at;
        if lexer.eat(b"!") {
            let kind = lexer.metadata_name();
            lexer.skip_space().ok()?;
            let node = lexer.at;
            skip_node(&mut lexer)?;
            found.list.push(Attached { comma, start, kind, node: node..lexer.at });
        } else {
            // It is an alignment, such as `align 4`.
            (!lexer.word().is_empty()).then_some(())?;
            lexer.skip_space().ok()?;
            (!lexer.word().is_empty()).then_some(())?;
        }
        found.end = lexer.at;
    }
}

/// Skips `!4`, `!{...}` or `!DILocation(...)`.
fn skip_node(lexer: &mut Lexer<'_>) -> Option<()> {
    (lexer.peek()? == b'!').then_some(())?;
    if reference(lexer).ok()?.is_none() {
        lexer.at += 1;
        lexer.word();
        (lexer.peek()? == b'(').then_some(())?;
        lexer.bracketed("a metadata node").ok()?;
    }
    Some(())
}

/// Returns the end of the operands, or of a call's attributes or an atomic ordering after them.
/// An alignment and attachments may follow. The lexer starts after the opcode.
fn operands(opcode: Opcode, mut lexer: Lexer<'_>) -> Option<usize> {
    match opcode {
        Opcode::Other => return None,
        Opcode::Call => {
            instruction::transfer(&mut lexer)?;
            lexer.bracketed("a call").ok()?;
            return call_attributes(lexer);
        }
        _ => {}
    }
    lexer.at = instruction::pointer_in(opcode, lexer)?.end;
    let values = match opcode {
        Opcode::AtomicRmw => 1,
        Opcode::CmpXchg => 2,
        _ => 0,
    };
    for _ in 0..values {
        lexer.token(b",")?;
        lexer.ty().ok()?;
        lexer.skip_space().ok()?;
        value(&mut lexer)?;
    }
    if opcode == Opcode::VaArg {
        lexer.token(b",")?;
        lexer.ty().ok()?;
    }
    let mut end = lexer.at;
    loop {
        lexer.skip_space().ok()?;
        if lexer.eat_word(b"syncscope") {
            lexer.skip_space().ok()?;
            (lexer.peek()? == b'(').then_some(())?;
            lexer.bracketed("a scope").ok()?;
        } else if !ORDERINGS.iter().any(|ordering| lexer.eat_word(ordering)) {
            return Some(end);
        }
        end = lexer.at;
    }
}

/// The memory orderings; in LLVM, `LLParser::parseOrdering`.
const ORDERINGS: [&[u8]; 6] = words("unordered monotonic acquire release acq_rel seq_cst");

fn value(lexer: &mut Lexer<'_>) -> Option<()> {
    match lexer.peek()? {
        b'<' | b'[' | b'{' => lexer.bracketed("a constant").ok(),
        b'0'..=b'9' | b'-' | b'+' => {
            // `1.0e+00`
            while !lexer.word().is_empty() || lexer.eat(b"+") {}
            Some(())
        }
        _ if lexer.eat_word(b"true") || lexer.eat_word(b"false") => Some(()),
        _ => lexer.value().ok(),
    }
}

/// Returns where a call ends, without its attachments. The lexer starts after the arguments, for
/// example at `#2 [ "deopt"() ] to label %a unwind label %b`.
fn call_attributes(mut lexer: Lexer<'_>) -> Option<usize> {
    loop {
        let end = lexer.at;
        lexer.skip_space().ok()?;
        let rest = lexer.rest();
        match rest.first() {
            Some(b'#') if rest.get(1).is_some_and(u8::is_ascii_digit) => {
                lexer.at += 1;
                lexer.word();
            }
            Some(b'[') => lexer.bracketed("operand bundles").ok()?,
            Some(b'"') => {
                lexer.quoted().ok()?;
                if lexer.peek() == Some(b':') {
                    return Some(end);
                }
            }
            Some(b'=') => lexer.at += 1,
            Some(b'%') => {
                lexer.at += 1;
                lexer.skip_name().ok()?;
                let mut ahead = lexer;
                ahead.skip_space().ok()?;
                if ahead.peek() == Some(b'=') {
                    return Some(end);
                }
            }
            _ => {
                // A word that begins the next instruction ends the call, except in `unwind label`.
                let mut next = lexer;
                let word = lexer.word();
                let starts = matches!(instruction::start(&mut next), Ok(Some(_)));
                if word.is_empty() || lexer.peek() == Some(b':') || starts && word != b"unwind" {
                    return Some(end);
                }
                if lexer.peek() == Some(b'(') {
                    lexer.bracketed("an attribute").ok()?;
                }
            }
        }
    }
}

/// Moves to the comma before the first attachment.
fn to_attachment(lexer: &mut Lexer<'_>) -> Option<()> {
    loop {
        match lexer.peek()? {
            b'"' => drop(lexer.quoted().ok()?),
            b';' | b'/' if lexer.comment().ok()? => {}
            b'(' | b'[' | b'{' => lexer.bracketed("an instruction").ok()?,
            b',' => {
                let mut ahead = *lexer;
                ahead.at += 1;
                ahead.skip_space().ok()?;
                if ahead.eat(b"!")
                    && !ahead.metadata_name().is_empty()
                    && ahead.skip_space().is_ok()
                    && skip_node(&mut ahead).is_some()
                {
                    return Some(());
                }
                lexer.at += 1;
            }
            _ => lexer.at += 1,
        }
    }
}

//! The attachments of one instruction, and where another may stand.

use std::borrow::Cow;
use std::ops::Range;

use super::cursor::Cursor;
use super::instruction;
use super::module::Opcode;
use super::node::reference;

/// What is attached to an instruction, in the order of the text.
pub(super) struct Attachments<'t> {
    pub(super) list: Vec<Attached<'t>>,
    /// Bytes from the start of the text to after the instruction.
    pub(super) end: usize,
}

/// An attachment such as `, !tbaa !5`.
pub(super) struct Attached<'t> {
    /// Bytes from the start of the text to the comma before it.
    pub(super) comma: usize,
    /// Its `!`.
    pub(super) start: usize,
    /// Without the `!`, escapes resolved.
    pub(super) kind: Cow<'t, [u8]>,
    pub(super) node: Range<usize>,
}

/// Reads the attachments of the instruction at `offset`, which ends within
/// `text`. `None` where its end cannot be made out.
///
/// LLVM: `LLParser::parseInstructionMetadata`. Each attachment has a comma
/// before it, and nothing but an alignment stands between or after them.
pub(super) fn attachments(text: &[u8], offset: usize) -> Option<Attachments<'_>> {
    let mut cursor = Cursor::new(text, offset);
    let start = instruction::start(&mut cursor).ok()??;
    cursor.at = start.after;
    match operands(start.opcode, cursor) {
        Some(end) => cursor.at = end,
        // The place of an attachment that is there is known all the same.
        None => to_attachment(&mut cursor)?,
    }
    let mut found = Attachments { list: Vec::new(), end: cursor.at };
    loop {
        cursor.skip_space().ok()?;
        let comma = cursor.at;
        if !cursor.eat(b",") {
            return Some(found);
        }
        cursor.skip_space().ok()?;
        let start = cursor.at;
        if cursor.eat(b"!") {
            let kind = cursor.metadata_name();
            cursor.skip_space().ok()?;
            let node = cursor.at;
            skip_node(&mut cursor)?;
            found.list.push(Attached { comma, start, kind, node: node..cursor.at });
        } else {
            // `align 4`
            (!cursor.word().is_empty()).then_some(())?;
            cursor.skip_space().ok()?;
            (!cursor.word().is_empty()).then_some(())?;
        }
        found.end = cursor.at;
    }
}

/// Passes `!4`, `!{...}` or `!DILocation(...)`.
fn skip_node(cursor: &mut Cursor<'_>) -> Option<()> {
    (cursor.peek()? == b'!').then_some(())?;
    if reference(cursor).ok()?.is_none() {
        cursor.at += 1;
        cursor.word();
        (cursor.peek()? == b'(').then_some(())?;
        cursor.bracketed("a metadata node").ok()?;
    }
    Some(())
}

/// Returns where the comma before the alignment and the attachments may stand,
/// from after the opcode on.
fn operands(opcode: Opcode, mut cursor: Cursor<'_>) -> Option<usize> {
    match opcode {
        Opcode::Other => return None,
        Opcode::Call => {
            instruction::transfer(&mut cursor)?;
            cursor.bracketed("a call").ok()?;
            return call_attributes(cursor);
        }
        _ => {}
    }
    cursor.at = instruction::pointer_in(opcode, cursor, 0)?.end;
    let values = match opcode {
        Opcode::AtomicRmw => 1,
        Opcode::CmpXchg => 2,
        _ => 0,
    };
    for _ in 0..values {
        comma(&mut cursor)?;
        cursor.ty().ok()?;
        cursor.skip_space().ok()?;
        value(&mut cursor)?;
    }
    if opcode == Opcode::VaArg {
        comma(&mut cursor)?;
        cursor.ty().ok()?;
    }
    let mut end = cursor.at;
    loop {
        cursor.skip_space().ok()?;
        if cursor.eat_word(b"syncscope") {
            cursor.skip_space().ok()?;
            (cursor.peek()? == b'(').then_some(())?;
            cursor.bracketed("a scope").ok()?;
        } else if !ORDERINGS.iter().any(|ordering| cursor.eat_word(ordering)) {
            return Some(end);
        }
        end = cursor.at;
    }
}

fn comma(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.skip_space().ok()?;
    cursor.eat(b",").then_some(())?;
    cursor.skip_space().ok()
}

/// LLVM: `LLParser::parseOrdering`.
const ORDERINGS: [&[u8]; 6] =
    [b"unordered", b"monotonic", b"acquire", b"release", b"acq_rel", b"seq_cst"];

/// Passes a value of any type.
fn value(cursor: &mut Cursor<'_>) -> Option<()> {
    match cursor.peek()? {
        b'<' | b'[' | b'{' => cursor.bracketed("a constant").ok(),
        b'0'..=b'9' | b'-' | b'+' => {
            // `1.0e+00`
            while !cursor.word().is_empty() || cursor.eat(b"+") {}
            Some(())
        }
        _ if cursor.eat_word(b"true") || cursor.eat_word(b"false") => Some(()),
        _ => cursor.value().ok(),
    }
}

/// Returns where a call ends, but for its attachments, from after its
/// arguments on: `#2 [ "deopt"() ] to label %a unwind label %b`.
fn call_attributes(mut cursor: Cursor<'_>) -> Option<usize> {
    loop {
        let end = cursor.at;
        cursor.skip_space().ok()?;
        let rest = cursor.rest();
        match rest.first() {
            Some(b'#') if rest.get(1).is_some_and(u8::is_ascii_digit) => {
                cursor.at += 1;
                cursor.word();
            }
            Some(b'[') => cursor.bracketed("operand bundles").ok()?,
            Some(b'"') => {
                cursor.quoted().ok()?;
                if cursor.peek() == Some(b':') {
                    return Some(end);
                }
            }
            Some(b'=') => cursor.at += 1,
            Some(b'%') => {
                cursor.at += 1;
                cursor.skip_name().ok()?;
                let mut ahead = cursor;
                ahead.skip_space().ok()?;
                if ahead.peek() == Some(b'=') {
                    return Some(end);
                }
            }
            _ => {
                // The next instruction, but `unwind label` goes on with this.
                let mut next = cursor;
                let word = cursor.word();
                let starts = matches!(instruction::start(&mut next), Ok(Some(_)));
                if word.is_empty() || cursor.peek() == Some(b':') || starts && word != b"unwind" {
                    return Some(end);
                }
                if cursor.peek() == Some(b'(') {
                    cursor.bracketed("an attribute").ok()?;
                }
            }
        }
    }
}

/// Goes to the comma before the first attachment.
fn to_attachment(cursor: &mut Cursor<'_>) -> Option<()> {
    loop {
        match cursor.peek()? {
            b'"' => drop(cursor.quoted().ok()?),
            b';' | b'/' if cursor.comment().ok()? => {}
            b'(' | b'[' | b'{' => cursor.bracketed("an instruction").ok()?,
            b',' => {
                let mut ahead = *cursor;
                ahead.at += 1;
                ahead.skip_space().ok()?;
                if ahead.eat(b"!")
                    && !ahead.metadata_name().is_empty()
                    && ahead.skip_space().is_ok()
                    && skip_node(&mut ahead).is_some()
                {
                    return Some(());
                }
                cursor.at += 1;
            }
            _ => cursor.at += 1,
        }
    }
}

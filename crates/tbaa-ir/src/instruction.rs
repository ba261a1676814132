//! Reads instructions in a text: their opcodes, and the memory that they access.

use std::ops::Range;

use super::body::pass_attributes;
use crate::{Opcode, Result};
use tbaa_lex::lexer::{Lexer, without_comments, words};

/// The opcode of an instruction.
pub(super) struct Start {
    pub(super) opcode: Opcode,
    /// The offset in the text where the opcode ends.
    pub(super) after: usize,
}

/// Like [`start`] for common instructions as LLVM prints them; `None` for others. If the opcode
/// after `%x =` is [`Opcode::Other`], [`Start::after`] is the offset where the opcode begins.
#[inline]
pub(super) fn printed(text: &[u8], at: usize) -> Option<Start> {
    let mut lexer = Lexer::new(text, at);
    if !lexer.eat(b"%") {
        let opcode = match lexer.peek()? {
            b's' if lexer.eat(b"store ") => Opcode::Store,
            b'b' if lexer.eat(b"br ") => Opcode::Other,
            b'c' if lexer.eat(b"call ") => Opcode::Call,
            b't' if lexer.eat(b"tail call ") => Opcode::Call,
            b'i' if lexer.eat(b"invoke ") => Opcode::Call,
            b'r' if lexer.eat(b"ret ") => Opcode::Other,
            _ => return None,
        };
        return Some(Start { opcode, after: lexer.at - 1 });
    }
    (!lexer.word().is_empty() && lexer.eat(b" = ")).then_some(())?;
    let opcode = if lexer.eat(b"load ") {
        Opcode::Load
    } else if lexer.eat(b"call ") || lexer.eat(b"tail call ") || lexer.eat(b"invoke ") {
        Opcode::Call
    } else {
        // The result is `Other` unless the word begins with a pair of letters in `known`. The fold
        // does not branch, because the next word is hard to predict.
        let first = *lexer.rest().first_chunk()?;
        let known = [b"lo", b"st", b"ca", b"in", b"at", b"cm", b"va", b"ta", b"mu", b"no"];
        let known = known.iter().fold(false, |found, &known| found | (first == *known));
        if known | !first[0].is_ascii_lowercase() {
            return None;
        }
        return Some(Start { opcode: Opcode::Other, after: lexer.at });
    };
    Some(Start { opcode, after: lexer.at - 1 })
}

/// Reads an instruction's result and opcode. Skips a part of any other text, and returns `None`.
#[inline]
pub(super) fn start(lexer: &mut Lexer<'_>) -> Result<Option<Start>> {
    let mut named = false;
    if lexer.eat(b"%") {
        lexer.skip_name()?;
        let mut ahead = *lexer;
        ahead.skip_space()?;
        if !ahead.eat(b"=") {
            return Ok(None);
        }
        ahead.skip_space()?;
        *lexer = ahead;
        named = true;
    } else if lexer.peek() == Some(b'"') {
        lexer.quoted()?;
        lexer.eat(b":");
        return Ok(None);
    }
    let before = lexer.at;
    let mut word = lexer.word();
    if named {
        // The text after `%name =` is an instruction, even if its opcode is unknown.
    } else if lexer.eat(b":") {
        return Ok(None);
    } else if word.is_empty() {
        // No instruction starts here: skip one byte.
        lexer.at = lexer.text.len().min(before + 1);
        return Ok(None);
    }
    if matches!(word, b"tail" | b"musttail" | b"notail") {
        lexer.skip_space()?;
        word = lexer.word();
    }
    let after = lexer.at;
    let opcode = match word {
        b"load" => Opcode::Load,
        b"store" => Opcode::Store,
        b"call" | b"invoke" | b"callbr" => Opcode::Call,
        b"atomicrmw" => {
            // The operation may be on the next line, and is often an opcode's name.
            lexer.skip_space()?;
            if lexer.eat_word(b"volatile") {
                lexer.skip_space()?;
            }
            lexer.word();
            Opcode::AtomicRmw
        }
        b"cmpxchg" => Opcode::CmpXchg,
        b"va_arg" => Opcode::VaArg,
        // Test the most common words first.
        b"br" | b"ret" | b"switch" => Opcode::Other,
        // The most common words that continue an `invoke` or a `landingpad`.
        b"to" | b"cleanup" | b"catch" if !named => return Ok(None),
        _ if named || Opcode::of_other(word).is_some() => Opcode::Other,
        _ => return Ok(None),
    };
    Ok(Some(Start { opcode, after }))
}

/// The number of bytes after an opcode that are searched for operands. Without a limit, each
/// malformed instruction without a comma would search the rest of the text.
const SEARCH: usize = 4096;

/// The memory access of an instruction.
#[derive(Clone, Copy, Default)]
pub(super) struct Accessed<'t> {
    /// The accessed type; empty for a call, or if the type cannot be read.
    pub(super) ty: &'t [u8],
    pub(super) volatile: bool,
    pub(super) atomic: bool,
}

/// Reads an instruction's access; `after` begins after the opcode. `None` if there is no access. A
/// call has an access if it calls one of [`TRANSFERS`].
#[inline]
pub(super) fn access<'t>(opcode: Opcode, after: Lexer<'t>) -> Option<Accessed<'t>> {
    match opcode {
        Opcode::Other => None,
        Opcode::Load | Opcode::Store => match plain_type(opcode, after) {
            Some(ty) => Some(Accessed { ty, volatile: false, atomic: false }),
            None => any_access(opcode, after),
        },
        // For most calls, the next letter shows that the result type is not `void`.
        Opcode::Call if matches!(after.rest(), [b' ', b'a'..=b'u' | b'w'..=b'z' | b'%', ..]) => {
            None
        }
        _ => any_access(opcode, after),
    }
}

/// Returns the type of most loads and stores: a single word directly after the opcode.
#[inline]
fn plain_type<'t>(opcode: Opcode, mut lexer: Lexer<'t>) -> Option<&'t [u8]> {
    lexer.eat(b" ").then_some(())?;
    let word = lexer.word();
    // Most types begin with one of these letters. `atomic` and `volatile` do not.
    matches!(word.first()?, b'b'..=b'u').then_some(())?;
    let ends = match opcode {
        Opcode::Load => lexer.eat(b","),
        // Exclude ` *`, ` (` and ` addrspace(1)`, which continue the type.
        _ => {
            lexer.eat(b" ")
                && matches!(lexer.peek()?, b'%' | b'@' | b'-' | b'0'..=b'9' | b'b'..=b'z')
        }
    };
    (ends && word.len() < SEARCH).then_some(word)
}

fn any_access<'t>(opcode: Opcode, after: Lexer<'t>) -> Option<Accessed<'t>> {
    let mut lexer = bounded(after);
    let mut access = Accessed::default();
    if opcode == Opcode::Call {
        let name = transfer(&mut lexer)?;
        let start = lexer.at + 1;
        if lexer.bracketed("a call").is_ok() {
            let arguments = without_comments(&lexer.text[start..lexer.at - 1]);
            let before = arguments.strip_suffix(b"true").and_then(<[u8]>::last);
            access.volatile = before.is_some_and(u8::is_ascii_whitespace);
        }
        // In an atomic `memcpy`, the last argument is the element size, and not the volatile flag.
        access.atomic = memchr::memmem::find(name, b".atomic.").is_some();
        return Some(access);
    }
    access.atomic = matches!(opcode, Opcode::AtomicRmw | Opcode::CmpXchg);
    let mut ty = || {
        flags(&mut lexer, &mut access)?;
        match opcode {
            Opcode::Load => {
                let (ty, pointee) = lexer.pointer_ty().ok()?;
                lexer.skip_space().ok()?;
                // Before LLVM 3.7, a load states only the pointer's type.
                if lexer.peek() == Some(b',') { Some(ty) } else { pointee }
            }
            Opcode::Store => lexer.ty().ok(),
            _ => {
                lexer.until(b",", "an instruction").ok()?;
                lexer.eat(b",");
                lexer.skip_space().ok()?;
                lexer.ty().ok()
            }
        }
    };
    let ty = ty();
    // A type at the end of the searched text may be cut off: reject it.
    access.ty = ty.filter(|_| lexer.peek().is_some()).unwrap_or_default();
    Some(access)
}

/// Finds the pointer through which an instruction accesses memory; for a transfer such as `memcpy`,
/// the destination. `after` begins after the opcode.
pub(super) fn pointer(opcode: Opcode, after: Lexer<'_>) -> Option<Range<usize>> {
    let span = pointer_in(opcode, bounded(after))?;
    Some(after.at + span.start..after.at + span.end)
}

/// Does the same as [`pointer`], but without the limit [`SEARCH`].
pub(super) fn pointer_in(opcode: Opcode, mut lexer: Lexer<'_>) -> Option<Range<usize>> {
    if opcode == Opcode::Other {
        return None;
    }
    if opcode == Opcode::Call {
        transfer(&mut lexer)?;
        lexer.at += 1;
        lexer.skip_space().ok()?;
        lexer.ty().ok()?;
        pass_attributes(&mut lexer);
        // Skip the list in `dereferenceable (8)`: no pointer begins with a parenthesis.
        while lexer.peek() == Some(b'(') {
            lexer.bracketed("an attribute").ok()?;
            pass_attributes(&mut lexer);
        }
    } else {
        flags(&mut lexer, &mut Accessed::default())?;
        if opcode == Opcode::AtomicRmw {
            lexer.word();
            lexer.skip_space().ok()?;
        }
        lexer.ty().ok()?;
        lexer.skip_space().ok()?;
        if opcode == Opcode::Store {
            lexer.until(b",", "a store").ok()?;
        }
        // Before LLVM 3.7, a load states only the pointer's type.
        if matches!(opcode, Opcode::Load | Opcode::Store) && lexer.eat(b",") {
            lexer.skip_space().ok()?;
            lexer.ty().ok()?;
            lexer.skip_space().ok()?;
        }
    }
    let start = lexer.at;
    lexer.value().ok()?;
    // A value at the end of the searched text may be cut off: reject it.
    lexer.peek()?;
    Some(start..lexer.at)
}

/// Returns a lexer for the next [`SEARCH`] bytes of the text. Its offsets begin at 0.
fn bounded(lexer: Lexer<'_>) -> Lexer<'_> {
    let rest = lexer.rest();
    Lexer::new(&rest[..rest.len().min(SEARCH)], 0)
}

/// Skips `atomic`, `volatile` and `weak`, and sets the flags of `access`.
fn flags(lexer: &mut Lexer<'_>, access: &mut Accessed<'_>) -> Option<()> {
    loop {
        lexer.skip_space().ok()?;
        if lexer.eat_word(b"atomic") {
            access.atomic = true;
        } else if lexer.eat_word(b"volatile") {
            access.volatile = true;
        } else if !lexer.eat_word(b"weak") {
            return Some(());
        }
    }
}

/// Prefixes of the intrinsics that copy or fill memory: LLVM's `AnyMemIntrinsic`.
pub(super) const TRANSFERS: [&[u8]; 3] = words("llvm.memcpy. llvm.memmove. llvm.memset.");

/// Returns the callee's name in a call such as `void @llvm.memcpy.p0.p0.i64(`, if it is one of
/// [`TRANSFERS`]. Moves to the `(`.
pub(super) fn transfer<'t>(lexer: &mut Lexer<'t>) -> Option<&'t [u8]> {
    lexer.skip_space().ok()?;
    lexer.eat_word(b"void").then_some(())?;
    lexer.skip_space().ok()?;
    // Test this before skipping a word: most calls are of other functions.
    (lexer.eat(b"@") && lexer.rest().starts_with(b"llvm.mem")).then_some(())?;
    let name = lexer.word();
    TRANSFERS.iter().any(|&known| name.starts_with(known)).then_some(())?;
    lexer.skip_space().ok()?;
    (lexer.peek() == Some(b'(')).then_some(name)
}

/// The words that begin a pointer constant: see LLVM's `LLParser::parseValID`.
pub(super) const CONSTANTS: [&[u8]; 13] = words(
    "addrspacecast bitcast blockaddress dso_local_equivalent getelementptr inttoptr no_cfi \
     null poison ptrauth select undef zeroinitializer",
);

//! An instruction in a text: its opcode, and the memory that it accesses.

use std::ops::Range;

use super::body::pass_attributes;
use crate::{Opcode, Result};
use tbaa_lex::lexer::{Lexer, without_comments, words};

/// An instruction's opcode.
pub(super) struct Start {
    pub(super) opcode: Opcode,
    /// Bytes from the start of the text to after the opcode.
    pub(super) after: usize,
}

/// Like [`start`], for the commonest instructions as LLVM prints them; `None` for anything else.
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
        // All other words are skipped. Without branches, because the next word is hard to predict.
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

/// Reads an instruction's result and opcode. `None` for a label (skipped with its colon), or for a
/// continuation line.
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
        // Whatever follows `%name =` is an instruction, if an unknown one.
    } else if lexer.eat(b":") {
        return Ok(None);
    } else if word.is_empty() {
        // Nothing that starts an instruction: pass it, whatever it is.
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
            // The operation may be on the next line, and is often an opcode.
            lexer.skip_space()?;
            if lexer.eat_word(b"volatile") {
                lexer.skip_space()?;
            }
            lexer.word();
            Opcode::AtomicRmw
        }
        b"cmpxchg" => Opcode::CmpXchg,
        b"va_arg" => Opcode::VaArg,
        // The commonest of the others first.
        b"br" | b"ret" | b"switch" => Opcode::Other,
        // The commonest that continue an `invoke` or a `landingpad`.
        b"to" | b"cleanup" | b"catch" if !named => return Ok(None),
        _ if named || Opcode::of_other(word).is_some() => Opcode::Other,
        _ => return Ok(None),
    };
    Ok(Some(Start { opcode, after }))
}

/// The greatest distance from an opcode to its operands, in bytes.
///
/// A constant expression may precede them, but one longer than this is unheard of. Without a limit,
/// each malformed instruction without a comma would search the rest of the text.
const SEARCH: usize = 4096;

/// The memory access of an instruction.
#[derive(Clone, Copy, Default)]
pub(super) struct Accessed<'t> {
    /// The type; empty if it cannot be read.
    pub(super) ty: &'t [u8],
    pub(super) volatile: bool,
    pub(super) atomic: bool,
}

/// Reads an instruction's access, from after its opcode on; `None` for a call of a function that is
/// not `llvm.memcpy`, `llvm.memmove` or `llvm.memset`.
#[inline]
pub(super) fn access<'t>(opcode: Opcode, after: Lexer<'t>) -> Option<Accessed<'t>> {
    match opcode {
        Opcode::Other => None,
        Opcode::Load | Opcode::Store => match plain_type(opcode, after) {
            Some(ty) => Some(Accessed { ty, volatile: false, atomic: false }),
            None => any_access(opcode, after),
        },
        // The first letter after ` ` shows for most calls that the result is not `void`.
        Opcode::Call if matches!(after.rest(), [b' ', b'a'..=b'u' | b'w'..=b'z' | b'%', ..]) => {
            None
        }
        _ => any_access(opcode, after),
    }
}

/// Takes the type of most loads and stores: a word, and nothing before it.
#[inline]
fn plain_type<'t>(opcode: Opcode, mut lexer: Lexer<'t>) -> Option<&'t [u8]> {
    lexer.eat(b" ").then_some(())?;
    let word = lexer.word();
    // Words before a type begin with one of these letters.
    matches!(word.first()?, b'b'..=b'u').then_some(())?;
    let ends = match opcode {
        Opcode::Load => lexer.eat(b","),
        // Excludes ` *`, ` (` and ` addrspace(1)`, which continue the type.
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
        // The last argument of an atomic transfer is the element's size.
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
                // Before LLVM 3.7 a load names the pointer's type alone.
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
    // A type at the end of the searched text may be cut off.
    access.ty = ty.filter(|_| lexer.peek().is_some()).unwrap_or_default();
    Some(access)
}

/// Finds the pointer through which an instruction accesses memory, from after
/// its opcode on; of a transfer, the destination.
pub(super) fn pointer(opcode: Opcode, after: Lexer<'_>) -> Option<Range<usize>> {
    let span = pointer_in(opcode, bounded(after))?;
    Some(after.at + span.start..after.at + span.end)
}

/// Like [`pointer`], however far it is.
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
        // `dereferenceable (8)`: no pointer begins with a bracket.
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
        // A load of LLVM 3.6 or older names the pointer's type alone.
        if matches!(opcode, Opcode::Load | Opcode::Store) && lexer.eat(b",") {
            lexer.skip_space().ok()?;
            lexer.ty().ok()?;
            lexer.skip_space().ok()?;
        }
    }
    let start = lexer.at;
    lexer.value().ok()?;
    // A value at the end of the searched text may be cut off.
    lexer.peek()?;
    Some(start..lexer.at)
}

/// A text of its own: the place of an error is counted from its start.
fn bounded(lexer: Lexer<'_>) -> Lexer<'_> {
    let rest = lexer.rest();
    Lexer::new(&rest[..rest.len().min(SEARCH)], 0)
}

/// Passes white space and the words before an instruction's type.
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

/// LLVM: `AnyMemIntrinsic`.
pub(super) const TRANSFERS: [&[u8]; 3] = words("llvm.memcpy. llvm.memmove. llvm.memset.");

/// Skips the text before the arguments of `void @llvm.memcpy.p0.p0.i64(` and similar calls, and
/// returns the name.
pub(super) fn transfer<'t>(lexer: &mut Lexer<'t>) -> Option<&'t [u8]> {
    lexer.skip_space().ok()?;
    lexer.eat_word(b"void").then_some(())?;
    lexer.skip_space().ok()?;
    // Before the word is passed: there are many other calls.
    (lexer.eat(b"@") && lexer.rest().starts_with(b"llvm.mem")).then_some(())?;
    let name = lexer.word();
    TRANSFERS.iter().any(|&known| name.starts_with(known)).then_some(())?;
    lexer.skip_space().ok()?;
    (lexer.peek() == Some(b'(')).then_some(name)
}

/// Words that begin a pointer constant. LLVM: `LLParser::parseValID`.
pub(super) const CONSTANTS: [&[u8]; 13] = words(
    "addrspacecast bitcast blockaddress dso_local_equivalent getelementptr inttoptr no_cfi \
     null poison ptrauth select undef zeroinitializer",
);

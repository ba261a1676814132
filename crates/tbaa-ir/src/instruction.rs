//! An instruction as a text writes it: its opcode, and what it accesses.

use std::ops::Range;

use super::error::TextError;
use super::opcode::Opcode;
use tbaa_lex::lexer::{Lexer, without_comments};

/// An instruction's opcode.
pub(super) struct Start {
    pub(super) opcode: Opcode,
    /// Bytes from the start of the text to after the opcode.
    pub(super) after: usize,
}

/// Like [`start`], for the commonest instructions as LLVM prints them; `None` for
/// anything else.
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
        // No word but those that `start` knows needs to be passed. Without
        // branches: what comes next is hard to foresee.
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

/// Passes an instruction's result and opcode. `None` if what stands here is a
/// label (passed, with its colon), or the continuation of something.
#[inline]
pub(super) fn start(lexer: &mut Lexer<'_>) -> Result<Option<Start>, TextError> {
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
            // The operation may stand on the next line, and is often an opcode.
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

/// The greatest distance from an opcode to its instruction's operands, in bytes.
///
/// A constant expression may stand before them; one longer than this is
/// unheard of. Without a bound, ill-formed instructions without a comma would
/// each search the rest of the text.
const SEARCH: usize = 4096;

/// The memory access of an instruction.
#[derive(Clone, Copy, Default)]
pub(super) struct Accessed<'t> {
    /// Empty where it cannot be made out.
    pub(super) ty: &'t [u8],
    pub(super) volatile: bool,
    pub(super) atomic: bool,
}

/// Reads what an instruction accesses, from after its opcode on; `None` for a
/// call of anything but `llvm.memcpy` and its like.
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
    // Words that may stand before a type begin otherwise.
    matches!(word.first()?, b'b'..=b'u').then_some(())?;
    let ends = match opcode {
        Opcode::Load => lexer.eat(b","),
        // Not ` *`, ` (` or ` addrspace(1)`, which go on with the type.
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
    match opcode {
        Opcode::Call => {
            let name = transfer(&mut lexer)?;
            let start = lexer.at + 1;
            if lexer.bracketed("a call").is_ok() {
                let arguments = without_comments(&lexer.text[start..lexer.at - 1]);
                access.volatile = arguments
                    .strip_suffix(b"true")
                    .is_some_and(|before| before.last().is_some_and(u8::is_ascii_whitespace));
            }
            // The last argument of an atomic transfer is the element's size.
            access.atomic = memchr::memmem::find(name, b".atomic.").is_some();
            return Some(access);
        }
        _ => access.atomic = matches!(opcode, Opcode::AtomicRmw | Opcode::CmpXchg),
    }
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
    // A type at the end of what was searched has been cut off.
    access.ty = ty.filter(|_| lexer.peek().is_some()).unwrap_or_default();
    Some(access)
}

/// Finds the pointer through which an instruction accesses memory, from after
/// its opcode on; of a transfer, the first argument.
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
        attributes(&mut lexer)?;
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
    // A value at the end of what was searched has been cut off.
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

/// Passes what stands before the arguments of `void @llvm.memcpy.p0.p0.i64(`
/// and the like, and returns the name.
///
/// LLVM: `AnyMemIntrinsic`.
pub(super) fn transfer<'t>(lexer: &mut Lexer<'t>) -> Option<&'t [u8]> {
    lexer.skip_space().ok()?;
    lexer.eat_word(b"void").then_some(())?;
    lexer.skip_space().ok()?;
    // Before the word is passed: there are many other calls.
    (lexer.eat(b"@") && lexer.rest().starts_with(b"llvm.mem")).then_some(())?;
    let name = lexer.word();
    let known = [&b"llvm.memcpy."[..], b"llvm.memmove.", b"llvm.memset."];
    known.iter().any(|&known| name.starts_with(known)).then_some(())?;
    lexer.skip_space().ok()?;
    (lexer.peek() == Some(b'(')).then_some(name)
}

/// Passes what stands between an argument's type and its value, such as
/// `noundef align 4 dereferenceable(8)`.
fn attributes(lexer: &mut Lexer<'_>) -> Option<()> {
    loop {
        lexer.skip_space().ok()?;
        let mut ahead = *lexer;
        match ahead.word() {
            // A name, or nothing that can stand here.
            b"" => return Some(()),
            word if CONSTANTS.contains(&word) => return Some(()),
            _ => {}
        }
        ahead.skip_space().ok()?;
        if ahead.peek() == Some(b'(') {
            ahead.bracketed("an attribute").ok()?;
        }
        *lexer = ahead;
    }
}

/// Words that begin a pointer constant.
///
/// LLVM: `LLParser::parseValID`.
pub(super) const CONSTANTS: &[&[u8]] = &[
    b"addrspacecast", b"bitcast", b"blockaddress", b"dso_local_equivalent", b"getelementptr",
    b"inttoptr", b"no_cfi", b"null", b"poison", b"ptrauth", b"select", b"undef",
    b"zeroinitializer",
];

//! Reads a function's header, calls and `alloca`s, and skips spaces, lines and values in its text.

use std::{borrow::Cow, ops::Range};

use super::super::instruction::CONSTANTS;
use crate::{Attribute, Attributes};
use tbaa_lex::lexer::{Lexer, table, words};
use tbaa_lex::source::unquoted;

/// The header of a function: the text up to its body.
#[derive(Debug)]
pub struct Header<'t> {
    /// The text from `define` to the `{` of the body, inclusive.
    pub text: &'t [u8],
    /// The offset in the text where the header ends.
    pub end: usize,
    /// The parameters.
    pub parameters: Vec<Argument<'t>>,
    /// The attributes that follow the parameters.
    pub attributes: Attributes<'t>,
}

/// A call as the text writes it.
#[derive(Debug)]
pub struct Call<'t> {
    /// The name of a callee `@f` without the `@`; empty for any other callee.
    pub callee: &'t [u8],
    /// The callee `@f` or `%f`; empty for any other callee.
    pub target: &'t [u8],
    /// The constraints of inline assembly, such as `=*m,r`.
    pub constraints: Option<&'t [u8]>,
    /// The type of the result.
    pub result: Option<&'t [u8]>,
    /// The arguments.
    pub arguments: Vec<Argument<'t>>,
    /// The attributes that follow the arguments.
    pub attributes: Attributes<'t>,
}

/// An argument of a call, or a parameter of a function.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'t> {
    /// The type, as the text writes it.
    pub ty: &'t [u8],
    /// The attributes between the type and the value.
    pub attributes: &'t [u8],
    /// The value, as the text writes it; empty for a parameter without a name.
    pub value: &'t [u8],
}

impl<'t> Argument<'t> {
    /// Splits the attributes at spaces and `(`: `dereferenceable(8)` is `dereferenceable` and `8)`.
    pub fn words(&self) -> impl Iterator<Item = &'t [u8]> + use<'t> {
        self.attributes.split(|byte| b" (".contains(byte))
    }

    /// Returns whether `text` is one of the attributes, such as `readonly` or `captures(none)`. A
    /// name matches with and without a list in parentheses.
    #[doc(hidden)]
    pub fn has(&self, text: &[u8]) -> bool {
        let mut all = Attributes::new(Lexer::new(self.attributes, 0));
        let open = memchr::memchr(b'(', text).filter(|_| text.ends_with(b")"));
        let list = open.map(|open| (&text[..open], &text[open + 1..text.len() - 1]));
        all.any(|(_, attribute)| match (attribute, list) {
            (Attribute::Word(word, of), Some(list)) => (word, of) == (list.0, Some(list.1)),
            (Attribute::Word(word, _), None) => word == text,
            _ => false,
        })
    }

    /// Returns the number in `dereferenceable(N)`, if the attributes of a pointer state it. Same as
    /// LLVM's `Argument::getDereferenceableBytes`.
    pub fn dereferenceable(&self) -> Option<u64> {
        let text = str::from_utf8(self.attributes).ok()?;
        let (_, rest) = text.split_once("dereferenceable(")?;
        rest.split_once(')')?.0.trim().parse().ok()
    }
}

/// The alignment and the flags of an `alloca`.
#[derive(Debug)]
pub struct Alloca {
    /// The range of the alignment's digits in the text.
    pub align: Option<Range<usize>>,
    /// True if it is `swifterror`.
    pub swift_error: bool,
    /// True if it is in address space 0 and not `inalloca`.
    pub plain: bool,
}

impl<'t> Call<'t> {
    /// Returns the callee's name without quotes and escapes, in the form of [`Module::functions`].
    ///
    /// [`Module::functions`]: crate::Module::functions
    pub fn name(&self) -> Cow<'t, [u8]> {
        unquoted(self.callee)
    }

    pub(super) fn read(mut lexer: Lexer<'t>) -> Option<Self> {
        let mut callee = &b""[..];
        let mut target;
        let (mut constraints, mut assembly) = (None, false);
        // The range of the type before the callee.
        let mut result = 0..0;
        loop {
            lexer.skip_space().ok()?;
            let start = lexer.at;
            match lexer.peek()? {
                mark @ (b'@' | b'%') => {
                    lexer.at += 1;
                    lexer.skip_name().ok()?;
                    target = &lexer.text[start..lexer.at];
                    if mark == b'@' {
                        callee = target[1..].trim_ascii();
                        lexer.skip_space().ok()?;
                    }
                    if lexer.peek()? == b'(' {
                        break;
                    }
                    result = start..lexer.at;
                }
                b'"' => {
                    // The second string of `asm "...", "..."(`.
                    let string = lexer.quoted().ok()?;
                    if assembly && lexer.peek()? == b'(' {
                        (constraints, target) = (Some(string), &b""[..]);
                        break;
                    }
                }
                b'(' => lexer.bracketed("a call").ok()?,
                b'[' | b'{' | b'<' => {
                    lexer.bracketed("a call").ok()?;
                    result = start..lexer.at;
                }
                b'*' => {
                    lexer.at += 1;
                    result.end = lexer.at;
                }
                _ => match lexer.word() {
                    b"asm" => assembly = true,
                    b"addrspace" if lexer.peek()? == b'(' => {
                        lexer.bracketed("an address space").ok()?;
                        result.end = lexer.at;
                    }
                    // The callee is a constant expression.
                    word if CONSTANTS.contains(&word) => {
                        lexer.skip_space().ok()?;
                        if lexer.peek()? == b'(' {
                            lexer.bracketed("a callee").ok()?;
                        }
                        lexer.skip_space().ok()?;
                        if lexer.peek()? == b'(' {
                            target = &b""[..];
                            break;
                        }
                    }
                    b"" => lexer.at += 1,
                    _ if !assembly => result = start..lexer.at,
                    _ => {}
                },
            }
        }
        let arguments = arguments(&mut lexer)?;
        let result = Some(&lexer.text[result]).filter(|it| !it.is_empty());
        let attributes = Attributes::new(lexer);
        Some(Call { callee, target, constraints, result, arguments, attributes })
    }
}

impl Alloca {
    pub(super) fn read(mut lexer: Lexer<'_>) -> Option<Self> {
        let mut alloca = Alloca { align: None, swift_error: false, plain: true };
        loop {
            lexer.skip_space().ok()?;
            if lexer.eat_word(b"swifterror") {
                alloca.swift_error = true;
            } else if lexer.eat_word(b"inalloca") {
                alloca.plain = false;
            } else {
                break;
            }
        }
        lexer.ty().ok()?;
        while lexer.skip_space().is_ok() && lexer.eat(b",") {
            lexer.skip_space().ok()?;
            let rest = lexer.rest();
            if rest.starts_with(b"addrspace(") {
                alloca.plain &= rest.starts_with(b"addrspace(0)");
            } else if let Some(rest) = rest.strip_prefix(b"align ") {
                let end = rest.iter().position(|byte| !byte.is_ascii_digit());
                let start = lexer.at + b"align ".len();
                alloca.align = Some(start..start + end.unwrap_or(rest.len()));
            }
            // Skip a count, an alignment, an address space or an attachment.
            lexer.at += rest.iter().position(|&byte| byte == b',').unwrap_or(rest.len());
        }
        Some(alloca)
    }
}

/// Skips white space and comments. Stops after a comment that contains a label, and returns the
/// label. Returns `None` if a comment has no end.
pub(super) fn space<'t>(lexer: &mut Lexer<'t>) -> Option<Option<&'t [u8]>> {
    loop {
        match lexer.peek() {
            Some(b' ' | b'\t' | b'\r' | b'\n') => lexer.at += 1,
            Some(b';' | b'/') => {
                // LLVM 8 and earlier print the labels of unnamed blocks in comments.
                let mut label = *lexer;
                let label = label.eat(b"; <label>:").then(|| label.word());
                if !lexer.comment().ok()? {
                    return Some(None);
                }
                if label.is_some() {
                    return Some(label);
                }
            }
            _ => return Some(None),
        }
    }
}

/// Returns whether a line is a debug record or a use-list order, and not an instruction.
pub(super) fn is_aside(mut line: Lexer<'_>) -> bool {
    match line.peek() {
        Some(b'#') => line.rest().get(1).is_some_and(u8::is_ascii_alphabetic),
        _ => line.word().starts_with(b"uselistorder"),
    }
}

/// The bytes at which [`pass_line`] has to look more closely.
const STOPS: [bool; 256] = table(b"\n\"([{;/");

/// Moves to the next line end outside strings and brackets. `None` if the text ends before.
pub(super) fn pass_line(lexer: &mut Lexer<'_>) -> Option<()> {
    loop {
        lexer.at += lexer.rest().iter().position(|&byte| STOPS[byte as usize])?;
        match lexer.peek()? {
            b'\n' => return Some(()),
            b'"' => drop(lexer.quoted().ok()?),
            b'(' | b'[' | b'{' => lexer.bracketed("an instruction").ok()?,
            b';' | b'/' if lexer.comment().ok()? => {}
            _ => lexer.at += 1,
        }
    }
}

/// Reads the text after `define` or `declare`: name, parameters, and the attributes after them.
pub(crate) fn header<'t>(
    mut lexer: Lexer<'t>,
) -> Option<(&'t [u8], Vec<Argument<'t>>, Attributes<'t>)> {
    lexer.until(b"@", "a function header").ok()?;
    lexer.eat(b"@").then_some(())?;
    let name = lexer.skip_name().ok()?;
    lexer.skip_space().ok()?;
    (lexer.peek()? == b'(').then_some(())?;
    Some((name, arguments(&mut lexer)?, Attributes::new(lexer)))
}

/// Reads arguments in parentheses. The lexer is at the `(`.
fn arguments<'t>(lexer: &mut Lexer<'t>) -> Option<Vec<Argument<'t>>> {
    lexer.at += 1;
    let mut found = Vec::new();
    loop {
        lexer.skip_space().ok()?;
        if lexer.eat(b")") {
            return Some(found);
        }
        if lexer.eat(b",") {
            continue;
        }
        let start = lexer.at;
        let whole = lexer.until(b",", "an argument").ok()?;
        // A bracket of the wrong kind ends the list: give up.
        matches!(lexer.peek()?, b',' | b')').then_some(())?;
        let mut part = Lexer::new(&lexer.text[..lexer.at], start);
        // An argument such as `metadata !5` or `...` has no type that can be read.
        let ty = part.ty().unwrap_or(whole);
        let from = part.at;
        pass_attributes(&mut part);
        let attributes = part.text[from..part.at].trim_ascii();
        found.push(Argument { ty, attributes, value: part.text[part.at..].trim_ascii() });
    }
}

/// The words that begin a constant that is not a pointer: see LLVM's `LLParser::parseValID`.
const EXPRESSIONS: [&[u8]; 9] =
    words("splat ptrtoint ptrtoaddr trunc add sub mul xor extractelement");

/// Skips the attributes between an argument's type and value, such as `noundef align 4`.
pub(crate) fn pass_attributes(lexer: &mut Lexer<'_>) {
    loop {
        let _ = lexer.skip_space();
        let mut ahead = *lexer;
        if ahead.peek() == Some(b'"') {
            if ahead.quoted().is_err() {
                return;
            }
            ahead.eat(b"=");
            *lexer = ahead;
            continue;
        }
        match ahead.word() {
            b"" | b"true" | b"false" => return,
            b"align" => {
                let _ = ahead.skip_space();
                ahead.word();
            }
            word if CONSTANTS.contains(&word) || EXPRESSIONS.contains(&word) => return,
            [b'0'..=b'9' | b'-', ..] => return,
            _ => {}
        }
        if ahead.peek() == Some(b'(') && ahead.bracketed("an attribute").is_err() {
            return;
        }
        *lexer = ahead;
    }
}

pub(super) fn pass_value(lexer: &mut Lexer<'_>) -> Option<()> {
    match lexer.peek()? {
        b'<' | b'[' | b'{' => lexer.bracketed("a value").ok()?,
        b'-' | b'0'..=b'9' => {
            lexer.word();
            // The exponent, as in `1.000000e+00`.
            if lexer.eat(b"+") {
                lexer.word();
            }
        }
        b'c' if lexer.rest().starts_with(b"c\"") => {
            lexer.at += 1;
            lexer.quoted().ok()?;
        }
        _ => {
            let mut ahead = *lexer;
            let word = ahead.word();
            if word.is_empty() || CONSTANTS.contains(&word) || EXPRESSIONS.contains(&word) {
                // It is a name, or a constant expression.
                lexer.value().ok()?;
            } else {
                // It is `true`, `none` or `f0x7FF0000000000000`, for example.
                *lexer = ahead;
            }
        }
    }
    Some(())
}

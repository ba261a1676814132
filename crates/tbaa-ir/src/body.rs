//! All instructions of a function's body, those that access no memory among
//! them, for what inserts others.

use std::ops::Range;

use super::instruction::{self, CONSTANTS};
use super::module::Opcode;
use tbaa_types::lexer::Lexer;

/// An instruction of a body.
#[derive(Clone, Copy)]
#[doc(hidden)]
pub struct Statement<'t> {
    /// Bytes from the start of the text to its first byte, its result's `%`
    /// included.
    pub offset: usize,
    /// The same to the end of its line, or of the brackets that pass it.
    pub end: usize,
    /// `%x`.
    pub result: Option<&'t [u8]>,
    /// As the text writes it: `alloca`.
    pub word: &'t [u8],
    pub opcode: Opcode,
    /// Bytes from the start of the text to after the opcode.
    after: usize,
    pub must_tail: bool,
}

/// A call as the text writes it.
#[doc(hidden)]
pub struct Call<'t> {
    /// `@f` without its `@`; empty for any other callee.
    pub callee: &'t [u8],
    /// What inline assembly's operands are: `=*m,r`.
    pub constraints: Option<&'t [u8]>,
    pub arguments: Vec<Argument<'t>>,
    /// What follows the arguments: attributes, bundles, attachments.
    pub tail: Range<usize>,
}

/// An argument of a call, or a parameter of a function.
#[derive(Clone, Copy)]
#[doc(hidden)]
pub struct Argument<'t> {
    pub ty: &'t [u8],
    /// What stands between the type and the value.
    pub attributes: &'t [u8],
    pub value: &'t [u8],
}

/// Lists the instructions of the body that spans these bytes of the text.
#[doc(hidden)]
pub fn statements(text: &[u8], body: Range<usize>) -> Vec<Statement<'_>> {
    let text = &text[..body.end];
    let mut found = Vec::new();
    let mut lexer = Lexer::new(text, body.start);
    while lexer.skip_space().is_ok() && lexer.peek().is_some() {
        let offset = lexer.at;
        let Ok(start) = instruction::start(&mut lexer) else { break };
        if start.is_none() && text[lexer.at - 1] == b':' {
            continue;
        }
        if pass_line(&mut lexer).is_none() {
            lexer.at = text.len();
        }
        if let Some(start) = start {
            found.push(Statement::new(text, offset..lexer.at, start));
        }
    }
    found
}

/// Passes the rest of a line, and the brackets that begin on it.
fn pass_line(lexer: &mut Lexer<'_>) -> Option<()> {
    loop {
        match lexer.peek()? {
            b'\n' => return Some(()),
            b'"' => drop(lexer.quoted().ok()?),
            b'(' | b'[' | b'{' => lexer.bracketed("an instruction").ok()?,
            b';' | b'/' if lexer.comment().ok()? => {}
            _ => lexer.at += 1,
        }
    }
}

impl<'t> Statement<'t> {
    fn new(text: &'t [u8], span: Range<usize>, start: instruction::Start) -> Self {
        let head = &text[span.start..start.after];
        let mut result = Lexer::new(text, span.start);
        let named = result.eat(b"%") && result.skip_name().is_ok();
        let is_word = |word: &[u8]| head.split(|&b| !b.is_ascii_alphanumeric()).any(|w| w == word);
        // Of `atomicrmw`, the operation has been passed too.
        let word = match start.opcode {
            Opcode::AtomicRmw => b"atomicrmw",
            _ => &head[head.iter().rposition(|b| b.is_ascii_whitespace()).map_or(0, |n| n + 1)..],
        };
        Statement {
            offset: span.start,
            end: span.end,
            result: named.then(|| &text[span.start..result.at]),
            word,
            opcode: start.opcode,
            after: start.after,
            must_tail: start.opcode == Opcode::Call && is_word(b"musttail"),
        }
    }

    /// Returns a lexer that stands after the opcode.
    #[doc(hidden)]
    pub fn operands(&self, text: &'t [u8]) -> Lexer<'t> {
        Lexer::new(&text[..self.end], self.after)
    }

    /// Reads a call; `None` where its callee cannot be made out.
    #[doc(hidden)]
    pub fn call(&self, text: &'t [u8]) -> Option<Call<'t>> {
        let mut lexer = self.operands(text);
        let (mut callee, mut constraints, mut assembly) = (&b""[..], None, false);
        loop {
            lexer.skip_space().ok()?;
            match lexer.peek()? {
                mark @ (b'@' | b'%') => {
                    lexer.at += 1;
                    let start = lexer.at;
                    lexer.skip_name().ok()?;
                    let name = &lexer.text[start..lexer.at];
                    if mark == b'@' {
                        lexer.skip_space().ok()?;
                        callee = name.trim_ascii();
                    }
                    if lexer.peek()? == b'(' {
                        break;
                    }
                }
                b'"' => {
                    // The second string of `asm "...", "..."(`.
                    let string = lexer.quoted().ok()?;
                    if assembly && lexer.peek()? == b'(' {
                        constraints = Some(string);
                        break;
                    }
                }
                b'(' | b'[' | b'{' | b'<' => lexer.bracketed("a call").ok()?,
                _ => match lexer.word() {
                    b"asm" => assembly = true,
                    b"inttoptr" => return None,
                    b"" => lexer.at += 1,
                    _ => {}
                },
            }
        }
        let arguments = arguments(&mut lexer)?;
        Some(Call { callee, constraints, arguments, tail: lexer.at..self.end })
    }
}

impl Argument<'_> {
    #[doc(hidden)]
    #[must_use]
    pub fn is_pointer(&self) -> bool {
        self.ty == b"ptr" && !self.value.is_empty()
    }
}

/// Reads a list of arguments in parentheses, which must stand here.
#[doc(hidden)]
pub fn arguments<'t>(lexer: &mut Lexer<'t>) -> Option<Vec<Argument<'t>>> {
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
        let mut part = Lexer::new(&lexer.text[..lexer.at], start);
        // `metadata !5`, `...`
        let ty = part.ty().unwrap_or(whole);
        let from = part.at;
        pass_attributes(&mut part);
        let attributes = part.text[from..part.at].trim_ascii();
        found.push(Argument { ty, attributes, value: part.text[part.at..].trim_ascii() });
    }
}

/// Words that begin a constant which is no pointer.
///
/// LLVM: `LLParser::parseValID`.
const EXPRESSIONS: [&[u8]; 9] = [
    b"splat",
    b"ptrtoint",
    b"ptrtoaddr",
    b"trunc",
    b"add",
    b"sub",
    b"mul",
    b"xor",
    b"extractelement",
];

/// Passes what stands between an argument's type and its value, such as
/// `noundef align 4 dereferenceable(8) "key"="value"`.
fn pass_attributes(lexer: &mut Lexer<'_>) {
    loop {
        let _ = lexer.skip_space();
        let mut ahead = *lexer;
        if ahead.peek() == Some(b'"') {
            while ahead.peek() == Some(b'"') && ahead.quoted().is_ok() {
                ahead.eat(b"=");
            }
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

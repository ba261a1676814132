//! A metadata node as a text writes it, its references not yet looked up.

use std::borrow::Cow;

use super::error::LexerErrors;
use super::error::{TextError, TextErrorKind};
use tbaa::Int;
use tbaa::parts::import::Part;
use tbaa_lex::constant::{SPACE, int_bits, int_literal};
use tbaa_lex::lexer::{Lexer, without_comments};
use tbaa_lex::source::unescaped;

/// Names a node of the text: by number, or by where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Number(u32),
    /// Bytes from the start of the text to the node's `{`.
    Inline(u32),
}

/// A reference to a node.
#[derive(Clone, Copy)]
pub(super) struct Reference {
    pub(super) key: Key,
    /// Bytes from the start of the text to the reference.
    pub(super) at: u32,
    /// How deep an inline node is nested.
    pub(super) depth: u32,
}

/// What to make of an integer that its type cannot hold. LLVM leaves bits out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Overflow {
    /// An error: an offset or a size must not change.
    Refuse,
    /// Text, in a node that says nothing of types.
    Keep,
}

/// Appends the operands of a node that is nested `depth` deep, read from its
/// `{` on. Returns the place of an integer without a type, if there is one.
pub(super) fn operands<'t>(
    lexer: &mut Lexer<'t>,
    depth: u32,
    overflow: Overflow,
    into: &mut Vec<Part<'t, Reference>>,
) -> Result<Option<usize>, TextError> {
    let mut untyped = None;
    lexer.at += 1;
    lexer.skip_space()?;
    if lexer.eat(b"}") {
        return Ok(untyped);
    }
    loop {
        let start = lexer.at;
        into.push(operand(lexer, depth, overflow)?);
        if let (Some(Part::Int(_)), true) = (into.last(), is_untyped(&lexer.text[start..])) {
            untyped = untyped.or(Some(start));
        }
        if ends_after_operand(lexer)? {
            return Ok(untyped);
        }
    }
}

/// Passes the `,` or the `}` after an operand, and returns whether it is the `}`.
pub(super) fn ends_after_operand(lexer: &mut Lexer<'_>) -> Result<bool, TextError> {
    lexer.skip_space()?;
    let ends = lexer.eat(b"}");
    if !ends && !lexer.eat(b",") {
        return Err(match lexer.peek() {
            None => lexer.truncated("a metadata node"),
            Some(_) => lexer.expected("`,` or `}` in a metadata node"),
        });
    }
    if !ends {
        lexer.skip_space()?;
    }
    Ok(ends)
}

/// Returns whether an operand that is read as an integer has no type.
pub(super) fn is_untyped(text: &[u8]) -> bool {
    matches!(text.first(), Some(b'0'..=b'9' | b'-' | b'u' | b's'))
}

/// Reads an operand, and passes the white space after one that is no reference.
pub(super) fn operand<'t>(
    lexer: &mut Lexer<'t>,
    depth: u32,
    overflow: Overflow,
) -> Result<Part<'t, Reference>, TextError> {
    // LLVM 3 writes `metadata` before a string or node.
    if lexer.eat_word(b"metadata") {
        lexer.skip_space()?;
    }
    let start = *lexer;
    if lexer.peek() == Some(b'!') {
        if let Some(key) = reference(lexer)? {
            let at = start.at as u32;
            return Ok(Part::Key(Reference { key, at, depth: depth + 1 }));
        }
        let mut string = *lexer;
        string.at += 1;
        string.skip_space()?;
        if string.peek() == Some(b'"') {
            *lexer = string;
            return Ok(Part::String(unescaped(lexer.quoted()?)));
        }
    }
    if let Some(int) = printed_int(lexer) {
        return Ok(Part::Int(int));
    }
    let text = without_comments(lexer.until(b",", "a metadata node")?);
    Ok(match &*text {
        b"" => return Err(start.expected("an operand")),
        b"null" => Part::Null,
        _ => match int(&text) {
            Some(Ok(int)) => Part::Int(int),
            Some(Err(kind)) if overflow == Overflow::Refuse => return Err(start.error(kind)),
            _ => Part::Raw(match text {
                Cow::Borrowed(text) => String::from_utf8_lossy(text),
                Cow::Owned(text) => String::from_utf8_lossy(&text).into_owned().into(),
            }),
        },
    })
}

/// Takes a reference to a plain node, `!4` or `!{...}`, if one stands here; a
/// `!` does. White space may follow it.
#[inline]
pub(super) fn reference(lexer: &mut Lexer<'_>) -> Result<Option<Key>, TextError> {
    let mut ahead = *lexer;
    ahead.at += 1;
    if !ahead.peek().is_some_and(|byte| byte.is_ascii_digit()) {
        ahead.skip_space()?;
    }
    match ahead.peek() {
        Some(b'0'..=b'9') => {
            *lexer = ahead;
            Ok(Some(Key::Number(lexer.number()?)))
        }
        Some(b'{') => {
            *lexer = ahead;
            let start = lexer.at as u32;
            lexer.bracketed("a metadata node")?;
            Ok(Some(Key::Inline(start)))
        }
        _ => Ok(None),
    }
}

/// Takes the first bit that is set for the sign of the number.
///
/// LLVM: `LLLexer::LexIdentifier`.
fn sign_extended(magnitude: u64) -> i64 {
    let unused = magnitude.leading_zeros() % u64::BITS;
    (magnitude << unused) as i64 >> unused
}

/// Takes an offset as LLVM prints it, before a `,` or `}`.
#[inline]
fn printed_int(lexer: &mut Lexer<'_>) -> Option<Int> {
    let digits = lexer.rest().strip_prefix(b"i64 ")?;
    let (mut value, mut len) = (0, 0);
    while let Some(digit @ b'0'..=b'9') = digits.get(len) {
        // 18 digits fit; the lexer reads more.
        (len < 18).then_some(())?;
        value = value * 10 + u64::from(digit - b'0');
        len += 1;
    }
    (len > 0 && matches!(digits.get(len)?, b',' | b'}')).then_some(())?;
    lexer.at += 4 + len;
    Some(Int { bits: 64, value })
}

/// Reads an integer constant such as `i64 -1`, `i1 true` or `i8 u0xFF`, or one without a type
/// for an `i64`. `None` if the text is no such thing, or takes more than 64 bits to hold.
fn int(text: &[u8]) -> Option<Result<Int, TextErrorKind>> {
    let text = std::str::from_utf8(text).ok()?;
    let (bits, literal) = match text.split_once(SPACE) {
        Some((ty, literal)) => (int_bits(ty)?, literal.trim_matches(SPACE)),
        None => (64, text),
    };
    if let (1, "true" | "false") = (bits, literal) {
        return Some(Ok(Int { bits, value: u64::from(literal == "true") }));
    }
    let out_of_range = Some(Err(TextErrorKind::IntegerOutOfRange));
    let mask = if bits < 64 { (1_u64 << bits) - 1 } else { u64::MAX };
    let (prefix, digits, radix) = int_literal(literal)?;
    let Ok(magnitude) = u64::from_str_radix(digits, radix) else {
        // A wide type may hold it, though an offset cannot.
        return if bits > 64 { None } else { out_of_range };
    };
    let below_zero = match prefix {
        "-" => magnitude,
        // The first bit that is set is the sign, so that `s0x8` and
        // `s0x08` are both -8.
        "s0x" => sign_extended(magnitude).unsigned_abs(),
        _ => 0,
    };
    let value = match below_zero {
        0 => magnitude,
        _ if bits > 64 => return None,
        _ if below_zero > mask / 2 + 1 => return out_of_range,
        _ => below_zero.wrapping_neg() & mask,
    };
    if value > mask {
        return out_of_range;
    }
    Some(Ok(Int { bits, value }))
}

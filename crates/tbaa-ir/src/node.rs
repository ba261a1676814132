//! Reads metadata nodes and their definitions, without resolving references.

use std::borrow::Cow;

use crate::{Result, TextError, TextErrorKind};
use tbaa::{Int, parts::import::Part};
use tbaa_lex::constant::{SPACE, int_bits, int_literal};
use tbaa_lex::lexer::{Lexer, without_comments};
use tbaa_lex::source::unescaped;

/// Identifies a node of the text: by its number, or an inline node by its offset.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Number(u32),
    /// The offset in the text of the node's `{`.
    Inline(u32),
}

#[derive(Clone, Copy)]
pub(super) struct Reference {
    pub(super) key: Key,
    /// The offset in the text of the reference.
    pub(super) at: u32,
    /// The nesting depth, if it is an inline node.
    pub(super) depth: u32,
}

/// What to do with an integer that does not fit into its type. LLVM would truncate the integer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Overflow {
    /// Report an error, because an offset or a size must not change.
    Refuse,
    /// Keep it as text, because the node does not describe types.
    Keep,
}

/// The definition of a numbered node, without its operands.
#[derive(Clone, Copy)]
pub(super) struct NodeDefinition {
    /// The offset in the text of the node's `{`, or of the `!` of a specialised node.
    pub(super) body: usize,
    pub(super) form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Uniqued,
    Distinct,
    /// A specialised node, such as `!DIFile(...)`.
    Specialized,
}

impl NodeDefinition {
    /// Reads a definition from after the number up to its `{` or `(`.
    pub(super) fn read(lexer: &mut Lexer<'_>) -> Result<Self> {
        equals(lexer)?;
        let distinct = lexer.eat_word(b"distinct");
        lexer.skip_space()?;
        if lexer.eat_word(b"metadata") {
            lexer.skip_space()?;
        }
        let body = lexer.at;
        if !lexer.eat(b"!") {
            return Err(lexer.cut_or("a metadata node, `!{`", "a metadata definition").into());
        }
        let mut brace = *lexer;
        brace.skip_space()?;
        if brace.peek() == Some(b'{') {
            *lexer = brace;
            let form = if distinct { Form::Distinct } else { Form::Uniqued };
            return Ok(NodeDefinition { body: brace.at, form });
        }
        lexer.word();
        if lexer.peek() != Some(b'(') {
            return Err(lexer.cut_or("`{` or `(` of a metadata node", "a metadata node").into());
        }
        Ok(NodeDefinition { body, form: Form::Specialized })
    }

    /// Reads the definition whose `!` is at `offset` in `text`.
    pub(super) fn at(text: &[u8], offset: usize) -> Result<Self> {
        let mut lexer = Lexer::new(text, offset + 1);
        lexer.skip_space()?;
        lexer.number()?;
        NodeDefinition::read(&mut lexer)
    }
}

/// Returns the text of the specialised node whose `!` is at `body`.
pub(super) fn specialized(text: &[u8], body: usize) -> String {
    let mut lexer = Lexer::new(text, body + 1);
    lexer.word();
    // This cannot fail: the reader has skipped the same brackets when it scanned the text.
    let _ = lexer.bracketed("a metadata node");
    let text = without_comments(&text[body..lexer.at]);
    String::from_utf8_lossy(&text).into_owned()
}

pub(super) fn equals(lexer: &mut Lexer<'_>) -> Result<()> {
    lexer.skip_space()?;
    if !lexer.eat(b"=") {
        return Err(lexer.cut_or("`=`", "a metadata definition").into());
    }
    Ok(lexer.skip_space()?)
}

/// Appends the operands of a node at nesting depth `depth`; the lexer is at its `{`. Returns the
/// offset of the first integer without a type, if there is one.
pub(super) fn operands<'t>(
    lexer: &mut Lexer<'t>,
    depth: u32,
    overflow: Overflow,
    into: &mut Vec<Part<'t, Reference>>,
) -> Result<Option<usize>> {
    let mut untyped = None;
    lexer.at += 1;
    lexer.skip_space()?;
    if lexer.eat(b"}") {
        return Ok(None);
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

/// Skips the `,` or `}` after an operand. Returns whether it was the `}`.
pub(super) fn ends_after_operand(lexer: &mut Lexer<'_>) -> Result<bool> {
    lexer.skip_space()?;
    if lexer.eat(b"}") {
        return Ok(true);
    }
    if !lexer.eat(b",") {
        return Err(lexer.cut_or("`,` or `}` in a metadata node", "a metadata node").into());
    }
    lexer.skip_space()?;
    Ok(false)
}

/// Returns whether an operand, known to be an integer, has no type.
pub(super) fn is_untyped(text: &[u8]) -> bool {
    matches!(text.first(), Some(b'0'..=b'9' | b'-' | b'u' | b's'))
}

/// Reads an operand. White space may be left after it.
pub(super) fn operand<'t>(
    lexer: &mut Lexer<'t>,
    depth: u32,
    overflow: Overflow,
) -> Result<Part<'t, Reference>> {
    // LLVM before 3.6 writes `metadata` before a string or node.
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
        b"" => return Err(start.expected("an operand").into()),
        b"null" => Part::Null,
        _ => match int(&text) {
            Some(Ok(int)) => Part::Int(int),
            Some(Err(kind)) if overflow == Overflow::Refuse => {
                return Err(TextError::unlocated(start.at, kind));
            }
            _ => Part::Raw(match text {
                Cow::Borrowed(text) => String::from_utf8_lossy(text),
                Cow::Owned(text) => String::from_utf8_lossy(&text).into_owned().into(),
            }),
        },
    })
}

/// Reads `!4` or `!{...}` at a `!`; `None` for other nodes. Skips no white space after it.
#[inline]
pub(super) fn reference(lexer: &mut Lexer<'_>) -> Result<Option<Key>> {
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

/// Sign-extends a number whose highest set bit is its sign, as `LLLexer::LexIdentifier` does.
fn sign_extended(magnitude: u64) -> i64 {
    let unused = magnitude.leading_zeros() % u64::BITS;
    (magnitude << unused) as i64 >> unused
}

/// Reads an offset as LLVM prints it: `i64 8`, followed by `,` or `}`.
#[inline]
fn printed_int(lexer: &mut Lexer<'_>) -> Option<Int> {
    let digits = lexer.rest().strip_prefix(b"i64 ")?;
    let (mut value, mut len) = (0, 0);
    while let Some(digit @ b'0'..=b'9') = digits.get(len) {
        // 18 digits always fit into 64 bits; `int` reads longer numbers.
        (len < 18).then_some(())?;
        value = value * 10 + u64::from(digit - b'0');
        len += 1;
    }
    (len > 0 && matches!(digits.get(len)?, b',' | b'}')).then_some(())?;
    lexer.at += 4 + len;
    Some(Int { bits: 64, value })
}

/// Reads an integer constant such as `i64 -1`, `i1 true` or `i8 u0xFF`. Without a type it is an
/// `i64`. `None` for other text. Also `None` for a type of more than 64 bits, if the value does not
/// fit into a `u64`.
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
        // A wider type may hold the value, but then it is not a valid offset.
        return if bits > 64 { None } else { out_of_range };
    };
    let below_zero = match prefix {
        "-" => magnitude,
        // The highest set bit is the sign, so `s0x8` and `s0x08` are both -8.
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

//! Tokens of type text, and what is wrong with it.

use std::fmt;

use super::TypeError;
use crate::source::position;

/// What is wrong with the text of a type.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// Something else stands here than must.
    Expected(&'static str),
    /// A struct that nothing defines.
    Undefined(String),
    /// A second definition of one name.
    Redefined(String),
    /// A type that is no struct, used before its definition.
    UsedBefore(String),
    /// A type that the context refuses.
    Type(TypeError),
}

/// An error in the text of a type, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ParseError {
    /// What is wrong.
    pub kind: ParseErrorKind,
    /// Bytes from the start of the text.
    pub offset: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for ParseErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseErrorKind::Expected(wanted) => write!(f, "expected {wanted}"),
            ParseErrorKind::Undefined(name) => {
                write!(f, "type {name} is used and not defined; add `{name} = type ...`")
            }
            ParseErrorKind::Redefined(name) => write!(f, "type {name} is defined a second time"),
            ParseErrorKind::UsedBefore(name) => {
                write!(f, "type {name} is no struct and is used before this; move it up")
            }
            ParseErrorKind::Type(error) => write!(f, "{error}"),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.kind)
    }
}

impl std::error::Error for ParseError {}

/// A place in a text, and what may stand there.
pub(super) struct Lexer<'t> {
    pub(super) text: &'t [u8],
    pub(super) at: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn error(&self, offset: usize, kind: ParseErrorKind) -> ParseError {
        let (line, column) = position(self.text, offset);
        ParseError { kind, offset, line, column }
    }

    pub(super) fn expected(&self, wanted: &'static str) -> ParseError {
        self.error(self.at, ParseErrorKind::Expected(wanted))
    }

    /// Passes over white space and comments.
    pub(super) fn skip(&mut self) {
        loop {
            match self.text.get(self.at) {
                Some(byte) if byte.is_ascii_whitespace() => self.at += 1,
                Some(b';') => {
                    let rest = &self.text[self.at..];
                    self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    pub(super) fn is_end(&mut self) -> bool {
        self.skip();
        self.at == self.text.len()
    }

    /// Takes punctuation if it comes next.
    pub(super) fn take(&mut self, token: &str) -> bool {
        self.skip();
        let found = self.text[self.at..].starts_with(token.as_bytes());
        self.at += if found { token.len() } else { 0 };
        found
    }

    pub(super) fn expect(&mut self, token: &str, wanted: &'static str) -> Result<(), ParseError> {
        if self.take(token) { Ok(()) } else { Err(self.expected(wanted)) }
    }

    /// Takes the start of a struct body if one comes next; tells whether it is
    /// packed.
    pub(super) fn open_struct(&mut self) -> Option<bool> {
        let before = self.at;
        if self.take("{") {
            return Some(false);
        }
        if self.take("<") && self.take("{") {
            return Some(true);
        }
        self.at = before;
        None
    }

    /// Takes the end of a struct body if it comes next.
    pub(super) fn close_struct(&mut self, packed: bool) -> bool {
        let before = self.at;
        let closed = self.take("}") && (!packed || self.take(">"));
        if !closed {
            self.at = before;
        }
        closed
    }

    /// Takes a word of letters, digits, `_` and `.` if one comes next.
    pub(super) fn word(&mut self) -> &'t [u8] {
        self.skip();
        let rest = &self.text[self.at..];
        let len = rest
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(byte))
            .count();
        self.at += len;
        &rest[..len]
    }

    /// Takes a word if it comes next.
    pub(super) fn keyword(&mut self, wanted: &str) -> bool {
        self.skip();
        let before = self.at;
        let found = self.word() == wanted.as_bytes();
        if !found {
            self.at = before;
        }
        found
    }

    /// Takes a number; one of more than 64 bits counts as 2^64-1, which is out
    /// of range wherever a range is checked.
    pub(super) fn number(&mut self) -> Option<u64> {
        self.skip();
        let rest = &self.text[self.at..];
        let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += len;
        (len > 0).then(|| saturating(&rest[..len]))
    }

    /// Takes a quoted string, with LLVM's escapes resolved.
    ///
    /// LLVM: `UnEscapeLexed`.
    pub(super) fn string(&mut self) -> Result<Vec<u8>, ParseError> {
        self.expect("\"", "a string")?;
        let rest = &self.text[self.at..];
        let Some(len) = memchr::memchr(b'"', rest) else {
            return Err(self.expected("a string that ends"));
        };
        self.at += len + 1;
        let mut bytes = Vec::with_capacity(len);
        let mut rest = &rest[..len];
        while let Some((&byte, tail)) = rest.split_first() {
            let escaped = match tail {
                [b'\\', ..] if byte == b'\\' => Some((b'\\', 1)),
                [high, low, ..] if byte == b'\\' => hex(*high, *low).map(|byte| (byte, 2)),
                _ => None,
            };
            let (byte, used) = escaped.unwrap_or((byte, 0));
            bytes.push(byte);
            rest = &tail[used..];
        }
        Ok(bytes)
    }

    /// Takes a local name such as `%struct.Point`, `%"a b"` or `%0`. The first
    /// byte of a number is no letter, so a name and a number never meet.
    pub(super) fn local(&mut self) -> Result<Local<'t>, ParseError> {
        self.expect("%", "a type name such as %struct.Point")?;
        if self.text.get(self.at) == Some(&b'"') {
            return self.string().map(|name| Local::Name(name.into()));
        }
        let rest = &self.text[self.at..];
        let len = rest
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"-._$".contains(byte))
            .count();
        let name = &rest[..len];
        if name.first().is_some_and(u8::is_ascii_digit) {
            let digits = name.iter().take_while(|byte| byte.is_ascii_digit()).count();
            self.at += digits;
            return Ok(Local::Number(saturating(&name[..digits])));
        }
        if name.is_empty() {
            return Err(self.expected("a type name such as %struct.Point"));
        }
        self.at += len;
        Ok(Local::Name(name.into()))
    }
}

/// What a text calls a type.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Local<'t> {
    Name(std::borrow::Cow<'t, [u8]>),
    Number(u64),
}

impl fmt::Display for Local<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Local::Name(name) => write!(f, "%{}", String::from_utf8_lossy(name)),
            Local::Number(number) => write!(f, "%{number}"),
        }
    }
}

pub(super) fn saturating(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |number: u64, digit| {
        number.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
    })
}

fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    Some((digit(high)? << 4 | digit(low)?) as u8)
}

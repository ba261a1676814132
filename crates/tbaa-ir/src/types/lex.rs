//! The lexer for types, and the errors in a type's text.

use std::fmt;
use std::ops::{Deref, DerefMut};

use tbaa_lex::lexer::Lexer;
use tbaa_lex::source::{position, unescape};
use tbaa_types::{Packing, TypeError};

/// The kinds of mistakes in the text of a type.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// Other text is expected here; the field says which.
    #[error("expected {0}")]
    Expected(&'static str),
    /// A name is used but not defined.
    #[error("type {0} is used and not defined; add `{0} = type ...`")]
    Undefined(String),
    /// A name is defined twice.
    #[error("type {0} is defined a second time")]
    Redefined(String),
    /// A type that is not a struct is used before its definition.
    #[error("type {0} is no struct and is used before this; move it up")]
    UsedBefore(String),
    /// The type is invalid: the inner error says why.
    #[error(transparent)]
    Type(TypeError),
}

/// An error in the text of a type, with its position.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
#[error("{line}:{column}: {kind}")]
pub struct ParseError {
    /// The kind of mistake.
    pub kind: ParseErrorKind,
    /// Bytes from the start of the text.
    pub offset: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// A lexer for types. Unlike a [`Lexer`], it skips white space and comments before a token.
pub(super) struct Tokens<'t>(Lexer<'t>);

impl<'t> Deref for Tokens<'t> {
    type Target = Lexer<'t>;

    fn deref(&self) -> &Lexer<'t> {
        &self.0
    }
}

impl DerefMut for Tokens<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        Tokens(Lexer::new(text, 0))
    }

    pub(super) fn refuse(&self, offset: usize, kind: ParseErrorKind) -> ParseError {
        let (line, column) = position(self.text, offset);
        ParseError { kind, offset, line, column }
    }

    pub(super) fn wanted(&self, wanted: &'static str) -> ParseError {
        self.refuse(self.at, ParseErrorKind::Expected(wanted))
    }

    /// Skips white space and comments. An unterminated comment is not skipped.
    pub(super) fn skip(&mut self) {
        let _ = self.skip_space();
    }

    pub(super) fn is_end(&mut self) -> bool {
        self.skip();
        self.at == self.text.len()
    }

    /// Skips the punctuation `token` if it is next, and returns whether it was.
    pub(super) fn take(&mut self, token: &str) -> bool {
        self.skip();
        self.eat(token.as_bytes())
    }

    pub(super) fn expect(&mut self, token: &str, wanted: &'static str) -> Result<(), ParseError> {
        if self.take(token) { Ok(()) } else { Err(self.wanted(wanted)) }
    }

    pub(super) fn expect_word(
        &mut self,
        word: &str,
        wanted: &'static str,
    ) -> Result<(), ParseError> {
        if self.keyword(word) { Ok(()) } else { Err(self.wanted(wanted)) }
    }

    pub(super) fn expect_integer(&mut self, wanted: &'static str) -> Result<u64, ParseError> {
        self.integer().ok_or_else(|| self.wanted(wanted))
    }

    /// Skips `{` or `<{`, the start of a struct body. Returns `None` if neither is next.
    pub(super) fn open_struct(&mut self) -> Option<Packing> {
        let before = self.at;
        let packing = if self.take("<") { Packing::Packed } else { Packing::Padded };
        if self.take("{") {
            return Some(packing);
        }
        self.at = before;
        None
    }

    pub(super) fn close_struct(&mut self, packing: Packing) -> bool {
        let before = self.at;
        let closed = self.take("}") && (packing == Packing::Padded || self.take(">"));
        if !closed {
            self.at = before;
        }
        closed
    }

    pub(super) fn keyword(&mut self, wanted: &str) -> bool {
        self.skip();
        self.eat_word(wanted.as_bytes())
    }

    /// Reads an integer (2^64-1 if it has more than 64 bits); `None` if no digit is next.
    pub(super) fn integer(&mut self) -> Option<u64> {
        self.skip();
        let rest = &self.text[self.at..];
        let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += len;
        (len > 0).then(|| saturating(&rest[..len]))
    }

    /// Reads a quoted string, and resolves its escapes.
    pub(super) fn string(&mut self) -> Result<Vec<u8>, ParseError> {
        self.skip();
        if self.peek() != Some(b'"') {
            return Err(self.wanted("a string"));
        }
        // An error leaves the lexer at the opening quote.
        let quoted = self.quoted().map(unescape);
        quoted.map_err(|_| self.wanted("a string that ends"))
    }

    /// Reads a local name such as `%struct.Point`, `%"a b"` or `%0`.
    pub(super) fn local(&mut self) -> Result<Local<'t>, ParseError> {
        const WANTED: &str = "a type name such as %struct.Point";
        self.expect("%", WANTED)?;
        if self.peek() == Some(b'"') {
            return self.string().map(|name| Local::Name(name.into()));
        }
        // A bare name does not begin with a digit, so this is a number.
        if self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Ok(Local::Number(self.integer().unwrap_or(u64::MAX)));
        }
        match self.word() {
            [] => Err(self.wanted(WANTED)),
            name => Ok(Local::Name(name.into())),
        }
    }
}

/// A type's name in the text: `%name` or `%0`.
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

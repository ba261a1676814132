//! The errors of reading and changing a text.

use tbaa::GraphError;
use tbaa_lex::lexer::{LexError, LexErrorKind};
use tbaa_lex::source::position;

/// The largest nesting depth of inline nodes (`!{!{!{...}}}`). Reading a level scans all levels
/// inside it, so a hostile text would take quadratic time without a limit.
pub const MAX_INLINE_DEPTH: usize = 64;

pub(crate) type Result<T, E = TextError> = std::result::Result<T, E>;

/// The kind of a mistake in a text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TextErrorKind {
    /// The text ends inside a string, a body or the like: it was cut off.
    #[error("the text ends inside {inside}: it has been cut off")]
    Truncated {
        /// The part that has no end: `"a string"`, `"the body of function @f"`, ...
        inside: String,
    },
    /// Other text is required at this offset.
    #[error("expected {wanted}")]
    Expected {
        /// A description of the required text.
        wanted: &'static str,
    },
    /// A metadata number has two definitions.
    #[error("!{number} is defined a second time; line {first_line} defines it first")]
    DefinedTwice {
        /// The number.
        number: u32,
        /// The line of the first definition, from 1.
        first_line: usize,
    },
    /// A metadata number is used and has no definition.
    #[error("!{number} is used but the text does not define it")]
    Undefined {
        /// The number.
        number: u32,
    },
    /// A metadata number does not fit into 32 bits.
    #[error("a metadata number must be less than 4294967296")]
    NumberOutOfRange,
    /// An integer constant does not fit its type.
    #[error("the integer does not fit its type; write one that does")]
    IntegerOutOfRange,
    /// Inline nodes are nested deeper than [`MAX_INLINE_DEPTH`].
    #[error("nodes nested more than {MAX_INLINE_DEPTH} deep; give the inner ones numbers")]
    TooDeep,
    /// The text has 4 GiB or more.
    #[error("a text must be shorter than 4 GiB: read a module in parts, or its metadata alone")]
    TooLarge,
    /// Nothing can be attached to an instruction, because its end cannot be found.
    #[error("the end of this instruction cannot be made out; write it as LLVM prints it")]
    NoEnd,
    /// The graph rejects a node.
    #[error(transparent)]
    Graph(GraphError),
}

impl From<LexError> for TextError {
    /// Creates an error without line and column, which [`read_with`](super::read_with) adds.
    fn from(error: LexError) -> TextError {
        let kind = match error.kind {
            LexErrorKind::Truncated(inside) => TextErrorKind::Truncated { inside },
            LexErrorKind::Expected(wanted) => TextErrorKind::Expected { wanted },
            LexErrorKind::NumberOutOfRange => TextErrorKind::NumberOutOfRange,
        };
        TextError::unlocated(error.offset, kind)
    }
}

/// An error in a text, with its position.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
#[error("{line}:{column}: {kind}")]
pub struct TextError {
    /// The kind of mistake.
    pub kind: TextErrorKind,
    /// The offset in the text, in bytes.
    pub offset: usize,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl TextError {
    #[doc(hidden)]
    pub fn new(text: &[u8], offset: usize, kind: TextErrorKind) -> Self {
        Self::unlocated(offset, kind).located(text)
    }

    /// Creates an error without line and column: counting lines takes time linear in the text.
    pub(crate) fn unlocated(offset: usize, kind: TextErrorKind) -> Self {
        TextError { kind, offset, line: 0, column: 0 }
    }

    /// Returns the error with its line and column.
    #[doc(hidden)]
    pub fn located(mut self, text: &[u8]) -> Self {
        (self.line, self.column) = position(text, self.offset);
        self
    }
}

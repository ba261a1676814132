//! From text to a tree in which every name is resolved.

pub(crate) mod ast;
mod lex;
mod parse;
mod scope;

pub(crate) use parse::parse;

use std::fmt;

/// A mistake in a program, and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SyntaxError {
    /// Bytes from the start of the program.
    pub(crate) offset: usize,
    pub(crate) message: String,
}

impl SyntaxError {
    pub(crate) fn new(offset: usize, message: impl Into<String>) -> SyntaxError {
        SyntaxError { offset, message: message.into() }
    }

    /// Renders the mistake with its line and a caret below the place.
    pub(crate) fn render(&self, file: &str, source: &str) -> String {
        let mut offset = self.offset.min(source.len());
        while !source.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &source[..offset];
        let number = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = source[start..].lines().next().unwrap_or("");
        let column = before[start..].chars().count();
        let caret = format!("{:column$}^", "");
        let margin = number.to_string().len();
        format!(
            "{file}:{number}:{}: {}\n{number} | {line}\n{:margin$} | {caret}",
            column + 1,
            self.message,
            ""
        )
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

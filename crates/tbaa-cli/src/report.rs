//! What goes to standard error.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::excerpt::{Position, excerpt, printable};

/// Why a command cannot answer.
pub(crate) enum Failure {
    /// The input or the arguments cannot be used.
    Unusable(Message),
    /// Standard output cannot be written to.
    Output(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

impl Failure {
    /// Something that has no place in a text.
    pub(crate) fn unusable(text: impl Into<String>) -> Failure {
        Failure::Unusable(Message { place: None, text: text.into(), excerpt: None })
    }

    /// Something at a byte of a text.
    pub(crate) fn at(
        file: &str,
        text: &[u8],
        offset: usize,
        message: impl Into<String>,
    ) -> Failure {
        let position = Position::of(text, offset);
        Failure::Unusable(Message {
            place: Some(place(file, position)),
            text: message.into(),
            excerpt: Some(excerpt(text, offset, position.line)),
        })
    }

    pub(crate) fn report(&self) {
        match self {
            Failure::Unusable(message) => message.print(Level::Error),
            Failure::Output(error) => {
                let text = format!("cannot write to standard output: {error}");
                Message { place: None, text, excerpt: None }.print(Level::Error);
            }
        }
    }
}

/// `file:line:column`.
pub(crate) fn place(file: &str, Position { line, column }: Position) -> String {
    format!("{}:{line}:{column}", printable(file.as_bytes()))
}

/// How bad it is.
#[derive(Clone, Copy)]
enum Level {
    Error,
    Warning,
    Note,
}

/// A message on standard error.
pub(crate) struct Message {
    place: Option<String>,
    text: String,
    excerpt: Option<String>,
}

impl Message {
    fn print(&self, level: Level) {
        let (word, color) = match level {
            Level::Error => ("error", AnsiColor::Red),
            Level::Warning => ("warning", AnsiColor::Yellow),
            Level::Note => ("note", AnsiColor::Cyan),
        };
        let style = Style::new().bold().fg_color(Some(color.into()));
        let place = self.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
        let excerpt = self.excerpt.as_ref().map(|lines| format!("{lines}\n")).unwrap_or_default();
        // Nobody is left to be told when standard error is closed.
        let _ = write!(
            anstream::stderr(),
            "{place}{style}{word}:{style:#} {}\n{excerpt}",
            printable(self.text.as_bytes())
        );
    }
}

/// Says something that is good to know.
pub(crate) fn note(text: impl Into<String>) {
    Message { place: None, text: text.into(), excerpt: None }.print(Level::Note);
}

/// Warnings printed before the rest is only counted.
const SHOWN: usize = 10;

/// Prints warnings, each at its place as `show` gives it; many of them as a
/// count, because places are dear and nobody reads a thousand.
pub(crate) fn warn<T>(warnings: &[T], show: impl Fn(&T) -> (Option<String>, String)) {
    for warning in warnings.iter().take(SHOWN) {
        let (place, text) = show(warning);
        Message { place, text, excerpt: None }.print(Level::Warning);
    }
    if let more @ 1.. = warnings.len().saturating_sub(SHOWN) {
        let text = format!("and {more} more warnings of this kind");
        Message { place: None, text, excerpt: None }.print(Level::Warning);
    }
}

//! Prints messages on standard error.

use std::fmt::Display;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};

use crate::printable::{printable, printable_path};
use crate::progress;
use crate::render::Source;

/// The reason why a command cannot answer.
pub(crate) enum Failure {
    /// The input or the arguments cannot be used.
    Unusable(Message),
    /// Standard output cannot be written to.
    Output(io::Error),
}

pub(crate) type Result<T = (), E = Failure> = std::result::Result<T, E>;

/// Returns early with a failure about the input or the arguments.
macro_rules! bail {
    ($($text:tt)*) => {
        return Err($crate::report::Failure::unusable(format_args!($($text)*)))
    };
}
pub(crate) use bail;

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

impl Failure {
    pub(crate) fn unusable(text: impl Display) -> Failure {
        Failure::Unusable(Message::Plain { place: None, text: text.to_string() })
    }

    pub(crate) fn at(file: &str, text: &[u8], offset: usize, message: impl Display) -> Failure {
        let message = brief(message.to_string());
        Failure::Unusable(Message::Drawn(Source::new(file, text).error(offset, &message)))
    }

    pub(crate) fn report(&self) {
        match self {
            Failure::Unusable(message) => message.print(ERROR),
            Failure::Output(error) => {
                let text = format!("cannot write to standard output: {error}");
                Message::Plain { place: None, text }.print(ERROR);
            }
        }
    }
}

/// Adds to an error a description of the work that failed.
pub(crate) trait Context<T> {
    /// Returns the value, or the failure `what: cause`.
    fn context(self, what: impl Display) -> Result<T>;
}

impl<T, E: Display> Context<T> for Result<T, E> {
    fn context(self, what: impl Display) -> Result<T> {
        self.map_err(|error| Failure::unusable(format!("{what}: {error}")))
    }
}

/// Writes a file that the command line names. Fails if it is one of the inputs.
pub(crate) fn write_output(path: &Path, inputs: &[PathBuf], content: &[u8]) -> Result {
    refuse_input(path, inputs)?;
    fs::write(path, content).context(format_args!("cannot write {}", printable_path(path)))
}

/// Fails if an output is the same file as one of the inputs, even under another name.
pub(crate) fn refuse_input<P: AsRef<Path>>(
    path: &Path,
    inputs: impl IntoIterator<Item = P>,
) -> Result {
    #[cfg(unix)]
    let real = |path: &Path| {
        use std::os::unix::fs::MetadataExt;
        let found = fs::metadata(path).ok().filter(fs::Metadata::is_file);
        found.map(|found| (found.dev(), found.ino()))
    };
    #[cfg(not(unix))]
    let real = |path: &Path| fs::canonicalize(path).ok();
    let output = real(path);
    if output.is_some() && inputs.into_iter().any(|input| real(input.as_ref()) == output) {
        bail!("{} is an input or output already: name another file", printable_path(path));
    }
    Ok(())
}

pub(crate) fn place(file: &str, (line, column): (usize, usize)) -> String {
    format!("{}:{line}:{column}", printable(file))
}

/// The level of a message: its word and the word's colour.
type Level = (&'static str, AnsiColor);

const ERROR: Level = ("error", AnsiColor::Red);
const WARNING: Level = ("warning", AnsiColor::Yellow);
const NOTE: Level = ("note", AnsiColor::Cyan);

pub(crate) enum Message {
    /// One line, printed after its place if it has one.
    Plain { place: Option<String>, text: String },
    /// A drawing of the line that the message is about, in colour.
    Drawn(String),
}

impl Message {
    fn print(&self, (word, color): Level) {
        let style = Style::new().bold().fg_color(Some(color.into()));
        // Ignore the error: if standard error is closed, nobody can be told.
        let _ = progress::aside(|| match self {
            Message::Plain { place, text } => {
                let place = place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
                let text = printable(brief(text.clone()));
                writeln!(anstream::stderr(), "{place}{style}{word}:{style:#} {text}")
            }
            Message::Drawn(text) => writeln!(anstream::stderr(), "{text}"),
        });
    }
}

/// Shortens a message in the middle, because it may contain a very long name.
fn brief(message: String) -> String {
    const HALF: usize = 1 << 10;
    if message.len() <= 4 * HALF {
        return message;
    }
    let boundary = |at| (0..=at).rev().find(|&at| message.is_char_boundary(at)).unwrap_or(0);
    let (start, end) = (boundary(HALF), boundary(message.len() - HALF));
    format!("{} ... ({} bytes) ... {}", &message[..start], end - start, &message[end..])
}

pub(crate) fn note(text: impl Into<String>) {
    Message::Plain { place: None, text: text.into() }.print(NOTE);
}

/// The number of warnings that are printed. The rest are only counted.
const SHOWN: usize = 10;

/// Prints warnings, with the place and text from `show`. If there are many, counts the rest.
pub(crate) fn warn<T>(warnings: &[T], show: impl Fn(&T) -> (Option<String>, String)) {
    for warning in warnings.iter().take(SHOWN) {
        let (place, text) = show(warning);
        Message::Plain { place, text }.print(WARNING);
    }
    if let more @ 1.. = warnings.len().saturating_sub(SHOWN) {
        let text = format!("and {more} more warnings of this kind");
        Message::Plain { place: None, text }.print(WARNING);
    }
}

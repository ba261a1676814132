//! Messages on standard error.

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

/// Returns the failure that the input or the arguments cannot be used.
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
    /// Something that has no place in a text.
    pub(crate) fn unusable(text: impl Display) -> Failure {
        Failure::Unusable(Message::Plain { place: None, text: text.to_string() })
    }

    /// Something at a byte of a text.
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

/// A failure with the work that failed before the cause.
pub(crate) trait Context<T> {
    /// Returns the value, or the failure `what: cause`.
    fn context(self, what: impl Display) -> Result<T>;
}

impl<T, E: Display> Context<T> for Result<T, E> {
    fn context(self, what: impl Display) -> Result<T> {
        self.map_err(|error| Failure::unusable(format!("{what}: {error}")))
    }
}

/// Writes a file that the command line names, which must be none of the inputs.
pub(crate) fn write_output(path: &Path, inputs: &[PathBuf], content: &[u8]) -> Result {
    refuse_input(path, inputs)?;
    fs::write(path, content).context(format_args!("cannot write {}", printable_path(path)))
}

/// Refuses an output that is one of the inputs, by whatever name.
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
        bail!("{} is an input, which would be lost: name another file", printable_path(path));
    }
    Ok(())
}

/// `file:line:column`.
pub(crate) fn place(file: &str, (line, column): (usize, usize)) -> String {
    format!("{}:{line}:{column}", printable(file))
}

/// The weight of a message: its word, and the colour of that.
type Level = (&'static str, AnsiColor);

const ERROR: Level = ("error", AnsiColor::Red);
const WARNING: Level = ("warning", AnsiColor::Yellow);
const NOTE: Level = ("note", AnsiColor::Cyan);

/// A message on standard error.
pub(crate) enum Message {
    /// One line, after its place if it has one.
    Plain { place: Option<String>, text: String },
    /// Drawn with the line that it is about, in colour.
    Drawn(String),
}

impl Message {
    fn print(&self, (word, color): Level) {
        let style = Style::new().bold().fg_color(Some(color.into()));
        // Nobody is left to be told when standard error is closed.
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

/// Cuts the middle out of a message that repeats a name of any length.
fn brief(message: String) -> String {
    const HALF: usize = 1 << 10;
    if message.len() <= 4 * HALF {
        return message;
    }
    let boundary = |at| (0..=at).rev().find(|&at| message.is_char_boundary(at)).unwrap_or(0);
    let (start, end) = (boundary(HALF), boundary(message.len() - HALF));
    format!("{} ... ({} bytes) ... {}", &message[..start], end - start, &message[end..])
}

/// Says something that is good to know.
pub(crate) fn note(text: impl Into<String>) {
    Message::Plain { place: None, text: text.into() }.print(NOTE);
}

/// Warnings printed before the rest is only counted.
const SHOWN: usize = 10;

/// Prints warnings, each at its place as `show` gives it. Of many, the rest is only counted.
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

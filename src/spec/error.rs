//! The errors of a spec, with their paths in its data and their positions in its text.

use ron::error::{Error as RonError, SpannedError};

use super::place::{SpecPath, enclosing, offset};
use crate::nearest::suggestion;
use tbaa_lex::source::{brief, position};

/// An error in a spec, with its path, its position, or both.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}{message}", start(.place, .position))]
pub struct SpecError {
    message: String,
    place: Option<SpecPath>,
    /// The path of the other entry, if two entries conflict.
    other: Option<SpecPath>,
    position: Option<(usize, usize)>,
}

impl SpecError {
    pub(super) fn new(place: SpecPath, message: impl Into<String>) -> SpecError {
        let message = brief(message.into());
        SpecError { message, place: Some(place), other: None, position: None }
    }

    pub(super) fn with_other(mut self, other: SpecPath) -> SpecError {
        self.other = Some(other);
        self
    }

    /// Prefixes the error's path with `entry`, the path of the entry that contains the error.
    pub(super) fn within(mut self, entry: SpecPath) -> SpecError {
        self.place = Some(entry.join(&self.place.unwrap_or_default()));
        self
    }

    /// Finds the error in the text of the spec, and adds its line and column.
    pub(super) fn located(mut self, text: &str) -> SpecError {
        self.position = self.place.as_ref().map(|place| place.locate(text));
        if let Some(other) = self.other.take() {
            self.message.push_str(&format!(" (the other is on line {})", other.locate(text).0));
        }
        self
    }

    /// Returns the line, counted from 1. It is 1 if unknown, as after `Spec::build`.
    pub fn line(&self) -> usize {
        self.position.map_or(1, |(line, _)| line)
    }

    /// Returns the column in characters, counted from 1. It is 1 if the position is unknown.
    pub fn column(&self) -> usize {
        self.position.map_or(1, |(_, column)| column)
    }

    /// Returns the message, without the position or path with which `Display` begins.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the error's path in the spec's data; `None` if the text is not a parseable spec.
    pub fn place(&self) -> Option<&SpecPath> {
        self.place.as_ref()
    }
}

/// Returns the prefix of a message: line and column if known, or else the path if known.
fn start(place: &Option<SpecPath>, position: &Option<(usize, usize)>) -> String {
    match (position, place) {
        (Some((line, column)), _) => format!("{line}:{column}: "),
        (None, Some(place)) => format!("{place}: "),
        (None, None) => String::new(),
    }
}

/// Converts an error of RON's parser. The span that RON reports may be wider or narrower than the
/// faulty text, so the kind of the error decides which position is reported.
pub(super) fn of_ron(text: &str, error: &SpannedError) -> SpecError {
    let start = offset(text, (error.span.start.line, error.span.start.col));
    let end = offset(text, (error.span.end.line, error.span.end.col));
    let at = match &error.code {
        // The faulty text is a word, string or number: report its start.
        RonError::NoSuchStructField { .. }
        | RonError::DuplicateStructField { .. }
        | RonError::NoSuchEnumVariant { .. }
        | RonError::ExpectedDifferentStructName { .. }
        | RonError::NoSuchExtension(_)
        | RonError::ExpectedStringEnd
        | RonError::IntegerOutOfBounds => start,
        // An entry ended too soon: report its start.
        RonError::MissingStructField { .. } | RonError::ExpectedDifferentLength { .. } => {
            enclosing(text, end).unwrap_or(end)
        }
        RonError::InvalidEscape(_) => text[..end].rfind('\\').unwrap_or(start),
        _ => end,
    };
    SpecError {
        message: brief(explain(&error.code, &text[at..])),
        place: None,
        other: None,
        position: Some(position(text.as_bytes(), at)),
    }
}

/// Returns the message about an error of RON's parser. `rest` is the text from the error on.
fn explain(code: &RonError, rest: &str) -> String {
    let found = match rest.chars().next() {
        None => "the end of the text".to_owned(),
        Some(c) => format!("{c:?}"),
    };
    match code {
        RonError::NoSuchStructField { expected, found, outer } => {
            let all = format!("it has {}", expected.join(", "));
            let hint = suggestion(found, expected.iter().copied(), &all);
            format!("no field `{found}` in {}{hint}", outer_name(outer.as_ref()))
        }
        RonError::NoSuchEnumVariant { expected, found, .. } => {
            let all = format!("write one of {}", expected.join(", "));
            format!("unknown word `{found}`{}", suggestion(found, expected.iter().copied(), &all))
        }
        RonError::MissingStructField { field, outer } => {
            format!("{} lacks the field `{field}`", outer_name(outer.as_ref()))
        }
        RonError::DuplicateStructField { field, outer } => {
            format!("a second field `{field}` in {}: keep one", outer_name(outer.as_ref()))
        }
        RonError::ExpectedDifferentStructName { expected, found } => {
            format!("expected `{expected}(...)`, found `{found}`")
        }
        RonError::ExpectedNamedStructLike(name) => {
            format!("expected `{name}(...)`, found {found}")
        }
        RonError::ExpectedDifferentLength { .. } => format!("too few values: {TUPLES}"),
        RonError::ExpectedStructLikeEnd => format!("expected `)`, found {found}: {TUPLES}"),
        RonError::ExpectedStructLike => format!("expected `(`, found {found}"),
        RonError::ExpectedArray => format!("expected `[`, found {found}"),
        RonError::ExpectedComma => format!("expected `,` or a closing bracket, found {found}"),
        RonError::ExpectedMapColon => format!("expected `:`, found {found}"),
        RonError::ExpectedIdentifier => format!("expected a word, found {found}"),
        RonError::ExpectedString => format!("expected a string in quotes, found {found}"),
        RonError::ExpectedStringEnd => "a string that does not end: expected `\"`".to_owned(),
        RonError::ExpectedInteger => format!("expected a number of bytes, found {found}"),
        RonError::ExpectedBoolean => format!("expected `true` or `false`, found {found}"),
        RonError::IntegerOutOfBounds => {
            format!("a number out of range: bytes are counted from 0 to {}", u64::MAX)
        }
        RonError::TrailingCharacters => format!("expected nothing after the spec, found {found}"),
        RonError::Eof => "the text ends in the middle of the spec".to_owned(),
        RonError::UnclosedBlockComment => "a comment that does not end: expected `*/`".to_owned(),
        RonError::ExceededRecursionLimit => "nested too deep for a spec".to_owned(),
        other => {
            // RON's own messages begin with a capital.
            let message = other.to_string();
            let mut chars = message.chars();
            chars.next().into_iter().flat_map(char::to_lowercase).chain(chars).collect()
        }
    }
}

const TUPLES: &str = "a field of a Struct is (name, type, offset), of a Type (name, type, offset, \
                      size), an entry of a Copy (offset, size, tag); under declare a Field is \
                      (name, type), Bits are (name, type, width)";

fn outer_name(outer: Option<&String>) -> &str {
    // Specs usually leave out the name `Expect`, so messages do not use it.
    outer.map(String::as_str).filter(|&name| name != "Expect").unwrap_or("an expectation")
}

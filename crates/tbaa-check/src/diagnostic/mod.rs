//! The reports of [`verify`](crate::verify) and [`lint`](crate::lint).

mod findings;
mod lint;

use std::{fmt, ops::Range, str::FromStr};

pub use findings::{FindingLimits, Findings, LeftOut};
pub use lint::Lint;
pub use tbaa::wellformed::{Level, Rule};

/// The subject of a finding: a rule of the verifier, `TBAA001` to `TBAA099`, or a lint, from
/// `TBAA101` on. A code never changes its meaning.
///
/// ```
/// use tbaa_check::{Code, verify::Rule};
///
/// let code: Code = "TBAA013".parse().unwrap();
/// assert_eq!(code, Code::Rule(Rule::AccessNotOnPath));
/// assert_eq!(code.to_string(), "TBAA013");
/// assert!(code.page().starts_with("## TBAA013"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "String", try_from = "String"))]
pub enum Code {
    /// A rule of the verifier.
    Rule(Rule),
    /// A lint.
    Lint(Lint),
}

/// A text that is not a code.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{text:?} is not a code; a code is written as TBAA013 or TBAA101")]
pub struct UnknownCodeError {
    /// The text.
    pub text: String,
}

impl Code {
    /// Returns every code, in order of number.
    pub fn all() -> impl Iterator<Item = Code> {
        let rules = Rule::ALL.iter().map(|&rule| Code::Rule(rule));
        rules.chain(Lint::ALL.iter().map(|&lint| Code::Lint(lint)))
    }

    /// Returns the number after `TBAA`.
    pub fn number(self) -> u16 {
        match self {
            Code::Rule(rule) => rule.number(),
            Code::Lint(lint) => lint.number(),
        }
    }

    /// Returns a short title of the problem.
    pub fn title(self) -> &'static str {
        match self {
            Code::Rule(rule) => rule.title(),
            Code::Lint(lint) => lint.title(),
        }
    }

    /// Returns the severity of the findings; `None` for a lint that is off by default.
    pub fn level(self) -> Option<Level> {
        match self {
            Code::Rule(rule) => Some(rule.level()),
            Code::Lint(lint) => lint.level(),
        }
    }

    /// Returns the code's page of documentation, in Markdown: the problem, its consequence, an
    /// example with the fault, one without it, and the remedy.
    pub fn page(self) -> &'static str {
        let book = match self {
            Code::Rule(_) => include_str!("../../verify.md"),
            Code::Lint(_) => include_str!("../../lints.md"),
        };
        let heading = format!("## {self} ");
        let start = book.find(&heading).unwrap_or(book.len());
        let page = &book[start..];
        let end = page[heading.len().min(page.len())..].find("\n## ");
        page[..end.map_or(page.len(), |end| heading.len() + end)].trim_end()
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TBAA{:03}", self.number())
    }
}

impl FromStr for Code {
    type Err = UnknownCodeError;

    fn from_str(text: &str) -> Result<Code, UnknownCodeError> {
        let found = Code::all().find(|code| code.to_string() == text);
        found.ok_or_else(|| UnknownCodeError { text: text.to_owned() })
    }
}

impl From<Code> for String {
    fn from(code: Code) -> String {
        code.to_string()
    }
}

impl TryFrom<String> for Code {
    type Error = UnknownCodeError;

    fn try_from(text: String) -> Result<Code, UnknownCodeError> {
        text.parse()
    }
}

/// A range of a text, with a remark.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Label {
    /// The range, in bytes from the start of the text.
    pub span: Range<usize>,
    /// The remark; may be empty.
    pub text: String,
}

/// A finding.
///
/// Its texts quote names from the input: escape control characters before printing to a terminal.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Diagnostic {
    /// The rule or the lint.
    pub code: Code,
    /// The severity.
    pub level: Level,
    /// The mistake, in one line.
    pub message: String,
    /// The position of the mistake; `None` if the mistake has no position in a text.
    pub primary: Option<Label>,
    /// Other ranges that are involved.
    pub secondary: Vec<Label>,
    /// Remarks, such as the consequences and LLVM's own message.
    pub notes: Vec<String>,
    /// The remedy.
    pub help: Option<String>,
}

impl Diagnostic {
    pub(crate) fn new(code: Code, level: Level, message: String) -> Diagnostic {
        let (secondary, notes) = (Vec::new(), Vec::new());
        Diagnostic { code, level, message, primary: None, secondary, notes, help: None }
    }

    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    pub(crate) fn explain(&mut self, note: impl Into<String>, help: impl Into<String>) {
        self.note(note);
        self.advise(help);
    }

    pub(crate) fn advise(&mut self, help: impl Into<String>) {
        self.help = Some(help.into());
    }

    /// Returns the sort key of findings: the position in the text (0 if unknown), then the code.
    pub(crate) fn place(&self) -> (usize, Code) {
        (self.primary.as_ref().map_or(0, |label| label.span.start), self.code)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.level, self.code, self.message)
    }
}

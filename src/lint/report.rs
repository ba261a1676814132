//! Which lints report, and what they have found.

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Diagnostic, Level, Lint};

/// Which lints report, and how bad their findings are.
///
/// ```
/// use tbaa::{Level, lint::{Lint, Options}};
///
/// let options = Options::default().set(Lint::NameTypo, Some(Level::Error));
/// assert_eq!(options.level(Lint::NameTypo), Some(Level::Error));
/// assert_eq!(options.level(Lint::Untagged), None, "off unless asked for");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    levels: BTreeMap<Lint, Option<Level>>,
}

impl Options {
    /// Sets how bad a lint's findings are; `None` turns it off.
    #[must_use]
    pub fn set(mut self, lint: Lint, level: Option<Level>) -> Self {
        self.levels.insert(lint, level);
        self
    }

    /// Returns how bad a lint's findings are; `None` if it is off.
    #[must_use]
    pub fn level(&self, lint: Lint) -> Option<Level> {
        self.levels.get(&lint).copied().unwrap_or_else(|| lint.level())
    }
}

/// What has been found so far.
pub(super) struct Report<'o> {
    options: &'o Options,
    pub(super) found: Vec<Diagnostic>,
}

impl<'o> Report<'o> {
    pub(super) fn new(options: &'o Options) -> Self {
        Report { options, found: Vec::new() }
    }

    /// Whether anyone wants to know.
    pub(super) fn wants(&self, lint: Lint) -> bool {
        self.options.level(lint).is_some()
    }

    /// Adds a finding, unless the lint is off, to be filled in.
    pub(super) fn add(
        &mut self,
        lint: Lint,
        message: impl FnOnce() -> String,
    ) -> Option<&mut Diagnostic> {
        let level = self.options.level(lint)?;
        self.found.push(Diagnostic::new(Code::Lint(lint), level, message()));
        self.found.last_mut()
    }
}

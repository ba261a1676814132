//! The lints that are on, and their findings.

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Diagnostic, FindingLimits, Findings, Level, Lint};

/// Options: which lints are on, the level of each, and how many findings are stored.
///
/// ```
/// use tbaa_check::{Level, lint::{Lint, Options}};
///
/// let options = Options::default().set(Lint::NameTypo, Some(Level::Error));
/// assert_eq!(options.level(Lint::NameTypo), Some(Level::Error));
/// assert_eq!(options.level(Lint::Untagged), None, "off unless asked for");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    levels: BTreeMap<Lint, Option<Level>>,
    limits: FindingLimits,
}

impl Options {
    /// Sets the severity of a lint's findings; `None` turns the lint off.
    #[must_use]
    pub fn set(mut self, lint: Lint, level: Option<Level>) -> Self {
        self.levels.insert(lint, level);
        self
    }

    /// Sets how many findings are stored.
    #[must_use]
    pub fn limits(mut self, limits: FindingLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the severity of a lint's findings; `None` if the lint is off.
    pub fn level(&self, lint: Lint) -> Option<Level> {
        self.levels.get(&lint).copied().unwrap_or_else(|| lint.level())
    }
}

pub(super) struct Report<'o> {
    options: &'o Options,
    pub(super) found: Findings,
}

impl<'o> Report<'o> {
    pub(super) fn new(options: &'o Options) -> Self {
        Report { options, found: Findings::new(options.limits) }
    }

    pub(super) fn wants(&self, lint: Lint) -> bool {
        self.options.level(lint).is_some()
    }

    pub(super) fn is_full(&self, lint: Lint) -> bool {
        self.found.is_full(Code::Lint(lint))
    }

    /// Records that a lint ended its search early, if the lint is on.
    pub(super) fn stop(&mut self, lint: Lint) {
        if self.wants(lint) {
            self.found.stop(Code::Lint(lint));
        }
    }

    /// Adds a finding for the caller to fill in; `None` if the lint is off or a limit is reached.
    pub(super) fn add(
        &mut self,
        lint: Lint,
        message: impl FnOnce() -> String,
    ) -> Option<&mut Diagnostic> {
        let level = self.options.level(lint)?;
        self.found.add((Code::Lint(lint), level), message)
    }
}

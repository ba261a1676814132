//! A list of findings, whose length is limited.

use std::{collections::BTreeMap, ops::Deref};

use super::{Code, Diagnostic, Level};

/// The limits on stored findings. A hostile input may have a finding for every pair of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FindingLimits {
    /// The largest number of findings of one code; 100 by default.
    pub by_code: usize,
    /// The largest number of findings of all codes together; 1000 by default.
    pub in_all: usize,
}

impl FindingLimits {
    /// No limits: all findings are kept, whatever memory they take.
    pub const NONE: FindingLimits = FindingLimits { by_code: usize::MAX, in_all: usize::MAX };
}

impl Default for FindingLimits {
    fn default() -> Self {
        FindingLimits { by_code: 100, in_all: 1000 }
    }
}

/// The findings of one code that were left out because of the limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeftOut {
    /// The code.
    pub code: Code,
    /// The number of findings that were left out.
    pub count: usize,
    /// True if the search ended early, so that there may be more findings.
    pub at_least: bool,
}

/// The findings of [`verify`](crate::verify) or [`lint`](crate::lint): a list in the order of the
/// text, and the numbers of findings that [`FindingLimits`] left out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Findings {
    found: Vec<Diagnostic>,
    left_out: BTreeMap<Code, LeftOut>,
    by_code: BTreeMap<Code, usize>,
    limits: FindingLimits,
}

impl Findings {
    pub(crate) fn new(limits: FindingLimits) -> Findings {
        Findings { limits, ..Findings::default() }
    }

    /// Returns whether a further finding of `code` may be stored. If not, counts it as left out.
    pub(crate) fn admits(&mut self, code: Code) -> bool {
        let full = self.is_full(code);
        if full {
            self.beyond(code).count += 1;
        }
        !full
    }

    /// Adds a finding for the caller to fill in. At a limit, only counts it and returns `None`.
    pub(crate) fn add(
        &mut self,
        (code, level): (Code, Level),
        message: impl FnOnce() -> String,
    ) -> Option<&mut Diagnostic> {
        self.admits(code).then(|| self.push(Diagnostic::new(code, level, message())))
    }

    pub(crate) fn is_full(&self, code: Code) -> bool {
        let of_code = self.by_code.get(&code).copied().unwrap_or(0);
        self.found.len() >= self.limits.in_all || of_code >= self.limits.by_code
    }

    /// Records that the search for findings of `code` ended early.
    pub(crate) fn stop(&mut self, code: Code) {
        self.beyond(code).at_least = true;
    }

    fn beyond(&mut self, code: Code) -> &mut LeftOut {
        self.left_out.entry(code).or_insert(LeftOut { code, count: 0, at_least: false })
    }

    /// Adds a finding that [`Findings::admits`] accepted.
    pub(crate) fn push(&mut self, finding: Diagnostic) -> &mut Diagnostic {
        *self.by_code.entry(finding.code).or_default() += 1;
        let at = self.found.len();
        self.found.push(finding);
        &mut self.found[at]
    }

    /// Adds the findings of another check of the same input, and sorts all findings by position.
    /// Stores all of them: the limits are not applied again.
    #[must_use]
    pub fn and(mut self, others: Findings) -> Findings {
        for LeftOut { code, count, at_least } in others.left_out.into_values() {
            let beyond = self.beyond(code);
            beyond.count += count;
            beyond.at_least |= at_least;
        }
        others.found.into_iter().for_each(|finding| _ = self.push(finding));
        self.in_order()
    }

    /// Sorts the findings by position in the text, then by code. The sort is stable.
    pub(crate) fn in_order(mut self) -> Findings {
        self.found.sort_by_key(Diagnostic::place);
        self
    }

    /// Returns the numbers of findings that were left out, by code. Empty if all findings are
    /// stored and no search ended early.
    pub fn left_out(&self) -> impl Iterator<Item = LeftOut> {
        self.left_out.values().copied()
    }
}

impl Deref for Findings {
    type Target = [Diagnostic];

    fn deref(&self) -> &[Diagnostic] {
        &self.found
    }
}

impl IntoIterator for Findings {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.found.into_iter()
    }
}

impl<'a> IntoIterator for &'a Findings {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.found.iter()
    }
}

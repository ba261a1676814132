//! Changes to a text, made once at the end.

use std::ops::Range;

/// Parts of a text with what stands in their place.
#[derive(Default)]
pub(super) struct Edits {
    list: Vec<(Range<usize>, String)>,
}

impl Edits {
    /// Puts a text before what stands at `at`, after what was put there before.
    pub(super) fn insert(&mut self, at: usize, text: String) {
        self.list.push((at..at, text));
    }

    /// Puts a text in place of another.
    pub(super) fn replace(&mut self, span: Range<usize>, text: &str) {
        self.list.push((span, text.to_owned()));
    }

    pub(super) fn apply(mut self, text: &[u8]) -> Vec<u8> {
        self.list.sort_by_key(|(span, _)| span.start);
        let added: usize = self.list.iter().map(|(_, new)| new.len()).sum();
        let mut out = Vec::with_capacity(text.len() + added);
        let mut done = 0;
        for (span, new) in &self.list {
            // What an earlier one has taken out, in a text that is no module.
            if span.start < done {
                continue;
            }
            out.extend_from_slice(&text[done..span.start]);
            out.extend_from_slice(new.as_bytes());
            done = span.end;
        }
        out.extend_from_slice(&text[done..]);
        out
    }
}

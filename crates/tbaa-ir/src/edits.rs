//! Collects changes to a text, and makes them all at once.

use std::ops::Range;

/// Collects replacements of parts of a text.
///
/// Offsets are bytes from the start of the original text, regardless of other changes. Texts that
/// are inserted at one offset stay in the order of the calls. An insertion comes before a part that
/// is replaced at the same offset.
///
/// Parts should not overlap: a change that starts inside a replaced part is ignored. If two parts
/// start at one offset, the part of the first call is replaced.
///
/// ```
/// let mut edits = tbaa_ir::Edits::default();
/// edits.replace(5..8, "i64");
/// edits.insert(5, "volatile ");
/// edits.insert(0, "%x = ");
/// edits.replace(16..25, "");
/// let new = edits.apply(b"load i32, ptr %p, align 4 ; no tag");
/// assert_eq!(new, b"%x = load volatile i64, ptr %p ; no tag");
/// ```
#[derive(Clone, Default, Debug)]
pub struct Edits {
    list: Vec<(Range<usize>, String)>,
}

impl Edits {
    /// Inserts a text before the offset `at`.
    pub fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(at..at, text);
    }

    /// Replaces a part of the text; an empty `text` deletes it.
    pub fn replace(&mut self, span: Range<usize>, text: impl Into<String>) {
        self.list.push((span, text.into()));
    }

    /// Returns the changed text. Panics if a change is not inside the text.
    pub fn apply(mut self, text: &[u8]) -> Vec<u8> {
        self.list.sort_by_key(|(span, _)| (span.start, !span.is_empty()));
        let added: usize = self.list.iter().map(|(_, new)| new.len()).sum();
        let mut out = Vec::with_capacity(text.len() + added);
        let mut done = 0;
        for (span, new) in self.list {
            if span.start >= done {
                out.extend_from_slice(&text[done..span.start]);
                out.extend_from_slice(new.as_bytes());
                done = span.end;
            }
        }
        out.extend_from_slice(&text[done..]);
        out
    }
}

//! Changes to a text, made all at once.

use std::ops::Range;

/// Parts of a text, and what is put in their place.
///
/// Offsets are bytes from the start of the text as it is, whatever has been
/// changed before. The order of the calls does not matter, with one exception:
/// of texts that are inserted at one offset, the first comes first. An insertion
/// stands before the part that is replaced at the same offset.
///
/// Parts should not overlap. Of two that do, the one that starts first is
/// replaced, and the other is left out. So is an insertion inside a part that is
/// replaced.
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
    /// Puts a text before what stands at `at`.
    pub fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(at..at, text);
    }

    /// Puts a text in place of another; an empty one takes it out.
    pub fn replace(&mut self, span: Range<usize>, text: impl Into<String>) {
        self.list.push((span, text.into()));
    }

    /// Returns the text with all changes.
    ///
    /// # Panics
    ///
    /// If a part does not lie in the text.
    #[must_use]
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

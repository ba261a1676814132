//! Caches of answers. Answers never change as a graph grows.
//!
//! - A *table* has two bits for each pair of tags. It exists only if there are few tags, and the
//!   preorder intervals (see `index.rs`) of enough tags do not decide all queries.
//! - The *last answers* that took a search are stored for pairs of tags that are not in the table,
//!   and for pairs of accesses with sizes of their own. The hash of the pair determines eight
//!   slots. The answer is in one of them until another answer replaces it.
//!
//! If two threads write the same slot of the last answers at once, one answer may be lost. It is
//! then computed again.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::access::Access;

/// The number of pairs of accesses that the last answers have room for, in 128 KiB.
const PAIRS: usize = 1 << 14;

/// The number of slots that one pair may be in: one line of the processor's cache.
const PLACES: usize = 8;

/// The largest number of tags for a table, which then takes 64 KiB. A larger table would not fit
/// in the processor's fastest caches, and using it would cost more than undecided intervals do.
const MOST_TAGS: usize = 1 << 9;

/// A table is made only if the intervals of at least `1 / OPEN_SHARE` of the tags may not decide.
const OPEN_SHARE: usize = 64;

#[derive(Default, Debug)]
pub(super) struct Memo {
    /// A row for each tag, which has two bits for each tag: whether the answer for the two tags is
    /// known, and whether it is `MayAlias`.
    table: Vec<AtomicU64>,
    /// The number of pairs in a row: a power of two and at least 32, or 0 if there is no table.
    stride: u32,
    /// The number of tags up to which the decision to have a table, or none, remains valid.
    fits: usize,
    /// The last answers. A slot has a pair's key, with the answer in the lowest bit, or 0.
    words: OnceLock<Box<[AtomicU64]>>,
}

impl Memo {
    /// Makes room for `tags` tags. `open` counts the tags whose intervals may not decide.
    pub(super) fn fit(&mut self, tags: usize, open: impl FnOnce() -> usize) {
        if tags > self.fits {
            self.fits = tags.next_power_of_two().max(32);
            let worth = tags <= MOST_TAGS && open() * OPEN_SHARE >= tags;
            self.stride = if worth { self.fits as u32 } else { 0 };
            self.table.clear();
        }
        self.table.resize_with(tags * (self.stride as usize / 32), AtomicU64::default);
    }

    /// Returns whether the pair belongs in the table, even if its row does not exist yet.
    #[inline]
    pub(super) fn has_pair(&self, a: u64, b: u64) -> bool {
        a | b < u64::from(self.stride)
    }

    /// Returns the word of the table that contains the answer for two tags.
    #[inline]
    fn word(&self, row: u64, column: u64) -> Option<&AtomicU64> {
        self.table.get(((row * u64::from(self.stride) + column) / 32) as usize)
    }

    /// Returns the answer for two tags of the table, if it is known.
    #[inline]
    pub(super) fn pair(&self, a: u64, b: u64) -> Option<bool> {
        let bits = self.word(a, b)?.load(Ordering::Relaxed) >> (b % 32 * 2);
        (bits & 1 != 0).then_some(bits & 2 != 0)
    }

    /// Stores the answer for two tags, in both orders, if both are in the table.
    pub(super) fn set_pair(&self, a: u32, b: u32, may: bool) {
        let (a, b) = (u64::from(a), u64::from(b));
        if self.has_pair(a, b)
            && let (Some(x), Some(y)) = (self.word(a, b), self.word(b, a))
        {
            let bits = 1 | u64::from(may) << 1;
            x.fetch_or(bits << (b % 32 * 2), Ordering::Relaxed);
            y.fetch_or(bits << (a % 32 * 2), Ordering::Relaxed);
        }
    }

    /// Returns the answer for two accesses. If it is not cached, `find` computes it.
    #[inline]
    pub(super) fn get_or(&self, (a, b): (Access, Access), find: impl FnOnce() -> bool) -> bool {
        if let (Access { tag: Some(x), size: None, .. }, Access { tag: Some(y), size: None, .. }) =
            (a, b)
            && let (x, y) = (x.index, y.index)
            && self.has_pair(x.into(), y.into())
        {
            return self.pair(x.into(), y.into()).unwrap_or_else(|| {
                let may = find();
                self.set_pair(x, y, may);
                may
            });
        }
        let Some(key) = key(a, b) else { return find() };
        let words = self.words.get_or_init(|| (0..PAIRS).map(|_| AtomicU64::default()).collect());
        // The upper bits of the product depend on all bits of the key.
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - PAIRS.ilog2());
        let start = hash as usize & !(PLACES - 1);
        let places = &words[start..start + PLACES];
        let kept = || places.iter().map(|word| word.load(Ordering::Relaxed));
        // All slots are compared, because branching on each would be unpredictable.
        let found = kept().fold(0, |found, kept| if kept & !1 == key { kept } else { found });
        if found != 0 {
            return found & 1 != 0;
        }
        let may = find();
        let place = kept().position(|kept| kept == 0).unwrap_or(hash as usize % PLACES);
        places[place].store(key | u64::from(may), Ordering::Relaxed);
        may
    }
}

/// Returns an even number, not 0, that is the same for both orders of the pair. Returns `None` if a
/// tag is missing, or a tag's index or a size is too large.
fn key(a: Access, b: Access) -> Option<u64> {
    const TAG: u32 = 24;
    const SIZE: u32 = 7;
    let half = |access: Access| {
        let tag = access.tag?.index;
        let size = access.size.map_or(Some(0), |size| u64::from(size).checked_add(1))?;
        (tag >> TAG == 0 && size >> SIZE == 0).then_some(u64::from(tag) << SIZE | size)
    };
    let (a, b) = (half(a)?, half(b)?);
    Some(a.min(b) << (TAG + SIZE + 2) | a.max(b) << 2 | 2)
}

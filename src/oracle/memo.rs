//! Answers given before. They never change as a graph grows.
//!
//! Where intervals alone do not decide, which way a query takes is hard to
//! foresee, and a processor that guesses wrong loses more time than a look at a
//! table takes. So each pair of few tags has two bits in [`Memo`]: whether the
//! answer is known, and the answer. On accesses with sizes of their own, the last
//! answers are kept in [`SizedMemo`], in two places that the pair's hash names.
//!
//! Queries run on many threads. Two that write one word at once may lose an
//! answer, which is then found again. No word holds half of one.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::access::Access;

/// Of so few tags intervals meet often: all pairs are remembered, unless intervals
/// decide on all.
pub(super) const FEW: usize = 1 << 6;

/// Of so many all pairs are remembered, in 512 KiB, if one tag in [`OTHERS`] or more
/// is irregular or unindexed: else most are apart by their intervals.
const MOST: usize = 1 << 11;
const OTHERS: usize = 1 << 5;

const PAIRS_A_WORD: usize = 32;

#[derive(Default, Debug)]
pub(super) struct Memo {
    tags: u32,
    /// For each tag, its pairs with itself and those before it.
    words: Vec<AtomicU64>,
}

impl Clone for Memo {
    fn clone(&self) -> Self {
        let word = |word: &AtomicU64| AtomicU64::new(word.load(Ordering::Relaxed));
        Memo { tags: self.tags, words: self.words.iter().map(word).collect() }
    }
}

impl Memo {
    /// Makes room for the pairs of so many tags, if they are worth it, and else
    /// forgets all. `others` of the tags are irregular or unindexed.
    pub(super) fn grow(&mut self, tags: usize, others: usize) {
        let worth = tags <= FEW || tags <= MOST && others * OTHERS >= tags;
        let tags = if worth { tags } else { 0 };
        self.tags = tags as u32;
        let pairs = tags * (tags + 1) / 2;
        self.words.resize_with(pairs.div_ceil(PAIRS_A_WORD), AtomicU64::default);
        if tags == 0 {
            self.words.shrink_to_fit();
        }
    }

    /// Whether nothing is remembered.
    #[inline]
    pub(super) fn is_off(&self) -> bool {
        self.tags == 0
    }

    /// The word of a pair, and where its bits begin.
    #[inline]
    fn place(&self, a: u32, b: u32) -> Option<(&AtomicU64, usize)> {
        let (low, high) = (a.min(b), a.max(b));
        if high >= self.tags {
            return None;
        }
        let (low, high) = (low as usize, high as usize);
        let pair = high * (high + 1) / 2 + low;
        Some((self.words.get(pair / PAIRS_A_WORD)?, pair % PAIRS_A_WORD * 2))
    }

    /// Returns whether the answer on two tags is known, and the answer.
    #[inline]
    pub(super) fn get(&self, a: u32, b: u32) -> (bool, bool) {
        let Some((word, at)) = self.place(a, b) else { return (false, false) };
        let bits = word.load(Ordering::Relaxed) >> at;
        (bits & 1 != 0, bits & 2 != 0)
    }

    pub(super) fn set(&self, a: u32, b: u32, may: bool) {
        if let Some((word, at)) = self.place(a, b) {
            let bits = (1 | u64::from(may) << 1) << at;
            word.store(word.load(Ordering::Relaxed) | bits, Ordering::Relaxed);
        }
    }
}

/// Pairs of accesses that are kept, in 128 KiB.
const SIZED: usize = 1 << 14;

#[derive(Default, Debug)]
pub(super) struct SizedMemo {
    /// The key of a pair, and in the lowest bit the answer; 0 where there is none.
    words: OnceLock<Box<[AtomicU64]>>,
}

impl SizedMemo {
    /// Returns the answer on two accesses, which `find` finds if it is not kept.
    pub(super) fn get_or(&self, (a, b): (Access, Access), find: impl FnOnce() -> bool) -> bool {
        let Some(key) = key(a, b) else { return find() };
        let empty = || (0..SIZED).map(|_| AtomicU64::new(0)).collect();
        let words = self.words.get_or_init(empty);
        // The upper bits of the product depend on all of the key.
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - SIZED.ilog2());
        let [first, second] = [&words[hash as usize], &words[hash as usize ^ 1]];
        for kept in [first, second].map(|word| word.load(Ordering::Relaxed)) {
            if kept & !1 == key {
                return kept & 1 != 0;
            }
        }
        let may = find();
        // What stands in the second place makes way, unless the first is empty.
        match first.load(Ordering::Relaxed) {
            0 => {}
            before => second.store(before, Ordering::Relaxed),
        }
        first.store(key | u64::from(may), Ordering::Relaxed);
        may
    }
}

/// A number for two accesses in either order, even and not 0; `None` where it does
/// not fit.
fn key(a: Access, b: Access) -> Option<u64> {
    const TAG: u32 = 24;
    const SIZE: u32 = 7;
    let half = |access: Access| {
        let tag = access.tag?.index;
        let size = access.size.map_or(Some(0), |size| size.checked_add(1))?;
        (tag >> TAG == 0 && size >> SIZE == 0).then_some(u64::from(tag) << SIZE | size)
    };
    let (a, b) = (half(a)?, half(b)?);
    Some(a.min(b) << (TAG + SIZE + 2) | a.max(b) << 2 | 2)
}

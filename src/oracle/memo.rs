//! Answers that the definition gave before. They never change as a graph grows.
//!
//! The last ones are kept, each in one of two places that the pair's hash names. Two threads
//! that write one word at once may lose an answer, which is then found again.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::access::Access;

/// Pairs of accesses that are kept, in 128 KiB.
const PAIRS: usize = 1 << 14;

#[derive(Default, Debug)]
pub(super) struct Memo {
    /// The key of a pair, and in the lowest bit the answer; 0 where there is none.
    words: OnceLock<Box<[AtomicU64]>>,
}

impl Memo {
    /// Returns the answer on two accesses, which `find` finds if it is not kept.
    #[inline]
    pub(super) fn get_or(&self, (a, b): (Access, Access), find: impl FnOnce() -> bool) -> bool {
        let Some(key) = key(a, b) else { return find() };
        let empty = || (0..PAIRS).map(|_| AtomicU64::new(0)).collect();
        let words = self.words.get_or_init(empty);
        // The upper bits of the product depend on all of the key.
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - PAIRS.ilog2());
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

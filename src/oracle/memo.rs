//! Answers that the definition gave before. They never change as a graph grows.
//!
//! Each is kept in one of eight places that the pair's hash names, until another answer takes
//! its place. Two threads that write one word at once may lose an answer, which is then found
//! again.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::access::Access;

/// Pairs of accesses that are kept, in 128 KiB.
const PAIRS: usize = 1 << 14;

/// Places of one pair: a line of the cache.
const PLACES: usize = 8;

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
        let start = hash as usize & !(PLACES - 1);
        let places = &words[start..start + PLACES];
        let kept = || places.iter().map(|word| word.load(Ordering::Relaxed));
        if let Some(kept) = kept().find(|kept| kept & !1 == key) {
            return kept & 1 != 0;
        }
        let may = find();
        let place = kept().position(|kept| kept == 0).unwrap_or(hash as usize % PLACES);
        places[place].store(key | u64::from(may), Ordering::Relaxed);
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
        let size = access.size.map_or(Some(0), |size| u64::from(size).checked_add(1))?;
        (tag >> TAG == 0 && size >> SIZE == 0).then_some(u64::from(tag) << SIZE | size)
    };
    let (a, b) = (half(a)?, half(b)?);
    Some(a.min(b) << (TAG + SIZE + 2) | a.max(b) << 2 | 2)
}

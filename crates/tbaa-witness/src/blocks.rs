//! Who owns memory: blocks of the heap by who allocated them, and others.

use std::sync::atomic::{AtomicU64, Ordering::*};

use crate::report::symbol;
use crate::shadow::{self, BLOCK_ALIGN, GRANULE};

/// Places that allocated, by their numbers; 0 is none.
static CALLERS: [AtomicU64; 1 << 16] = [const { AtomicU64::new(0) }; 1 << 16];

/// Places that are looked at for a caller before it stays unnamed.
const PROBES: usize = 16;
/// How far before an address the beginning of its block is looked for.
const MAX_BLOCK: usize = 64 << 20;

/// The bytes of a block of the heap, which may be more than were asked for: they
/// become the program's where the block grows in its place.
pub(crate) fn usable(block: *mut u8) -> usize {
    // SAFETY: a null pointer, or a block that has been allocated and not freed.
    unsafe { libc::malloc_usable_size(block.cast()) }
}

/// Notes a new block: nothing is known of its bytes.
pub(crate) fn allocated(block: *mut u8, caller: usize) {
    if !block.is_null() {
        // Whole granules, for which no lock is taken: this library's own locks
        // may be held.
        shadow::clear(block.addr(), usable(block).next_multiple_of(GRANULE));
        mark(block, caller);
    }
}

/// Notes who allocated a block.
pub(crate) fn mark(block: *mut u8, caller: usize) {
    if let Some(mark) = shadow::block(block.addr(), true) {
        mark.store(number_of(caller), Relaxed);
    }
}

/// Notes that a block is no more.
pub(crate) fn freed(block: *mut u8) {
    if let Some(mark) = shadow::block(block.addr(), false) {
        mark.store(0, Relaxed);
    }
}

fn number_of(caller: usize) -> u16 {
    let caller = caller as u64;
    let hash = (caller.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize;
    for probe in 0..PROBES {
        let number = (hash + probe) % CALLERS.len();
        if number == 0 {
            continue;
        }
        let known = CALLERS[number].load(Relaxed);
        let is_it = known == caller
            || known == 0
                && CALLERS[number]
                    .compare_exchange(0, caller, Relaxed, Relaxed)
                    .map_or_else(|other| other == caller, |_| true);
        if is_it {
            return number as u16;
        }
    }
    0
}

/// Says in words whose an address is.
pub(crate) fn owner(address: usize) -> String {
    if let Some(text) = heap(address) {
        return text;
    }
    let (name, file) = symbol(address);
    if !file.is_empty() {
        return format!("in {name}, a variable of the program");
    }
    let here = std::ptr::from_ref(&name).addr();
    // A thread's stack is 8 MiB; one further away is another thread's.
    if address.abs_diff(here) < 8 << 20 {
        "on the stack".to_owned()
    } else {
        "in memory that no allocation seen here has given out".to_owned()
    }
}

fn heap(address: usize) -> Option<String> {
    let first = address & !(BLOCK_ALIGN - 1);
    let starts = (0..MAX_BLOCK / BLOCK_ALIGN).map(|back| first.wrapping_sub(back * BLOCK_ALIGN));
    let mut starts = starts.take_while(|at| *at <= address);
    let (start, number) = starts.find_map(|at| {
        let number = shadow::block(at, false)?.load(Relaxed);
        (number != 0).then_some((at, number))
    })?;
    // A block that is marked has been allocated and not freed.
    let size = usable(std::ptr::without_provenance_mut(start));
    let offset = address - start;
    if offset >= size {
        return None;
    }
    let caller = symbol(CALLERS[number as usize].load(Relaxed) as usize - 1).0;
    Some(format!("at {offset} of a block of {size} bytes, allocated by {caller}"))
}

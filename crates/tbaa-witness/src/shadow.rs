//! Records the last accesses of each byte of the program.
//!
//! An access instruction is called a *site*. The *state* of a byte is the site that wrote it last,
//! and a site that has read it since, if recorded. Each 4 bytes (a *granule*) have a 32-bit *cell*:
//! a number from [`crate::states`] that identifies the combination of their states, or 0 for none.
//!
//! Cells are atomic. If a cell's next value is cached, no lock is taken. If two threads access
//! different bytes of a granule at once, both accesses are recorded, because an access to part of a
//! granule is a compare-and-exchange. If they access the same byte, one access may be lost.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::*};

use crate::cells::{GRANULE, PAIR, WHOLE, cell, cells, covered, place};
use crate::memory;
use crate::states::{self, Event};

/// True once the program has started a second thread. Before that, plain stores are used instead of
/// compare-and-exchange, because they are faster. Instrumented modules read this flag too.
#[unsafe(export_name = "__tbaa_witness_threaded")]
pub(crate) static THREADED: AtomicBool = AtomicBool::new(false);

/// Records an access to some bytes, and reports contradictions.
pub(crate) fn note(address: usize, size: usize, event: Event) {
    let Range { start: mut at, end } = covered(address, size);
    while at < end {
        let offset = at % GRANULE;
        let here = (end - at).min(GRANULE - offset);
        let mask = (WHOLE >> (GRANULE - here)) << offset;
        granule(at, mask, event.followed_by(end - at - here));
        at += here;
    }
}

/// Records an access to the bytes of one granule that `mask` selects. `address` is the first of
/// these bytes.
#[inline(always)]
fn granule(address: usize, mask: u8, event: Event) {
    let cell = cell(address);
    loop {
        let old = cell.load(Relaxed);
        let new = match states::seen(old, mask, event) {
            Some(new) => new,
            None => states::after(old, mask, event, address),
        };
        if new == old {
            return;
        }
        if mask == WHOLE || !THREADED.load(Relaxed) {
            return cell.store(new, Relaxed);
        }
        if cell.compare_exchange(old, new, Relaxed, Relaxed).is_ok() {
            return;
        }
    }
}

/// Clears the cells of all granules that overlap the `size` bytes from `start` on. Returns the
/// number of bytes in those granules that had records. If both granules of an 8-byte word have
/// records, first calls `visit` with the word's address.
pub(crate) fn forget(start: usize, size: usize, mut visit: impl FnMut(usize)) -> usize {
    let range = covered(start, size);
    let mut bytes = 0;
    for word in (range.start & !(PAIR - 1)..range.end).step_by(PAIR) {
        if cells(word).load(Relaxed) != 0 {
            bytes += forget_word(word, &range, &mut visit);
        }
    }
    bytes
}

fn forget_word(word: usize, range: &Range<usize>, visit: &mut impl FnMut(usize)) -> usize {
    let places = [word, word + GRANULE];
    if places.into_iter().all(|at| cell(at).load(Relaxed) != 0) {
        visit(word);
    }
    let mut bytes = 0;
    for at in places {
        let cell = cell(at);
        if at + GRANULE > range.start && at < range.end && cell.load(Relaxed) != 0 {
            cell.store(0, Relaxed);
            bytes += GRANULE;
        }
    }
    bytes
}

/// If [`clear`] clears at least this many bytes, it returns whole pages of cells to the system.
const GIVE_BACK: usize = 1 << 17;
/// The number of the program's bytes whose cells fill one page.
const SPAN: usize = memory::PAGE / size_of::<u32>() * GRANULE;

/// Clears the cells of a block that the program frees, so that the cells' memory returns to the
/// system. Blocks of less than [`GIVE_BACK`] bytes are cleared when they are allocated again.
#[inline]
pub(crate) fn give_back(address: usize, size: usize) {
    if size >= GIVE_BACK {
        clear(address, size);
    }
}

/// Clears the records of these bytes. See [`GIVE_BACK`] for large ranges.
#[inline]
pub(crate) fn clear(address: usize, size: usize) {
    let Range { start: address, end } = covered(address, size);
    if end - address <= PAIR - address % PAIR && cells(address).load(Relaxed) == 0 {
        return;
    }
    let (first, last) = (address.next_multiple_of(GRANULE).min(end), end & !(GRANULE - 1));
    clear_part(address, first);
    if first >= last {
        return clear_part(first, end);
    }
    clear_part(last, end);
    let mut at = first;
    if last - first >= GIVE_BACK {
        let (from, to) = (first.next_multiple_of(SPAN), last & !(SPAN - 1));
        clear_whole(first, from);
        let cells = place(from);
        memory::forget(cells..cells + (to - from));
        at = to;
    }
    clear_whole(at, last);
}

/// The number of the program's bytes whose cells are tested together.
const ROUND: usize = 64;

/// Returns whether all cells of the [`ROUND`] bytes at `at`, a multiple of [`ROUND`], are 0.
#[inline(always)]
fn is_nothing(at: usize) -> bool {
    let found: u32;
    // SAFETY: the cells are reserved. They are atomic, so they are read in assembly: the processor
    // reads each cell as a whole.
    unsafe {
        std::arch::asm!(
            "movdqa {a}, [{cells}]",
            "por {a}, [{cells} + 16]",
            "por {a}, [{cells} + 32]",
            "por {a}, [{cells} + 48]",
            "pxor {b}, {b}",
            "pcmpeqb {a}, {b}",
            "pmovmskb {found:e}, {a}",
            cells = in(reg) place(at),
            found = out(reg) found,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            options(nostack, readonly),
        );
    }
    found == 0xffff
}

fn clear_whole(start: usize, end: usize) {
    let mut at = start;
    while at < end {
        if at.is_multiple_of(ROUND) && end - at >= ROUND && is_nothing(at) {
            at += ROUND;
        } else if at.is_multiple_of(PAIR) && end - at >= PAIR {
            let cells = cells(at);
            if cells.load(Relaxed) != 0 {
                cells.store(0, Relaxed);
            }
            at += PAIR;
        } else {
            cell(at).store(0, Relaxed);
            at += GRANULE;
        }
    }
}

/// Clears the records of some bytes of one granule.
fn clear_part(start: usize, end: usize) {
    if start < end && cell(start).load(Relaxed) != 0 {
        note(start, end - start, Event::CLEAR);
    }
}

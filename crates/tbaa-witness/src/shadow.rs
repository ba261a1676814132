//! What is known of each byte of the program's memory.
//!
//! The *state* of a byte is the site that wrote it last, and with `reuse=1` a site that has
//! read it since. Each granule of 4 bytes has a *cell* of 32 bits, a number that
//! stands for the states of its bytes ([`crate::states`]); 0 says that nothing
//! is known.
//!
//! The program lies below 1 TiB and from 81 TiB on, where Linux puts programs, libraries, heaps
//! and stacks. The cell of a granule lies a page behind the granule's address with bit 46 flipped: these
//! places, and those of marks of blocks, are reserved when the program starts, and take no
//! memory until they are touched. What is left between is reserved too, so that no memory
//! without cells is given out:
//!
//! | from, TiB | to | |
//! |---|---|---|
//! | 0 | 1 | the program |
//! | 1 | 17 | marks |
//! | 17 | 65 | cells |
//! | 65 | 65 and 4 GiB | what sites keep ([`Entries`]) |
//! | then | 81 | nothing |
//! | 81 | 128 | the program |
//!
//! Threads: cells are atomic, and no lock is taken where a granule's bytes go
//! from states to states as others have before. Two threads that touch one byte
//! at once race in the program already; those that touch neighbours in a granule
//! lose nothing, for a change of some of its bytes is a compare-and-exchange.

use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering::*};

use tbaa_instrument::layout;

use crate::sites;
use crate::states::{self, Entries, Event};

/// In bytes. Few sites share so little, which keeps the combinations few.
pub(crate) const GRANULE: usize = 4;
const PAIR: usize = 2 * GRANULE;
/// All bytes of a granule.
pub(crate) const WHOLE: u8 = (1 << GRANULE) - 1;
/// A block of the heap begins at a multiple of this.
pub(crate) const BLOCK_ALIGN: usize = 16;

const TIB: usize = 1 << 40;
/// By which the address of a cell differs from its granule's.
const FLIP: usize = 1 << layout::FLIP;
/// The program's addresses.
const LOW: Range<usize> = 0..TIB;
const HIGH: Range<usize> = 81 * TIB..128 * TIB;
/// The mark of address 0.
const MARKS: usize = TIB;
const CELLS: Range<usize> = place(HIGH.start)..place(0) + LOW.end;
const ENTRIES: Range<usize> =
    CELLS.end..CELLS.end + (sites::MAX_SITES as usize + 1) * size_of::<Entries>();
const _: () = assert!(ENTRIES.start as u64 == layout::ENTRIES_AT);

/// Whether the program has had a second thread. Until then a plain store does,
/// which takes a fifth of the time. Modules look at it, too.
#[unsafe(export_name = "__tbaa_witness_threaded")]
pub(crate) static THREADED: AtomicBool = AtomicBool::new(false);

/// Whether [`reserve`] has run.
static RESERVED: AtomicBool = AtomicBool::new(false);

/// Reserves the addresses of cells and marks. If that cannot be done, runs `again`, which may start
/// the program anew, and ends it.
#[cold]
pub(crate) fn reserve(again: impl FnOnce()) {
    if RESERVED.swap(true, AcqRel) {
        return;
    }
    let (own, none) = (MARKS..ENTRIES.end, ENTRIES.end..HIGH.start);
    if !crate::memory::reserve(own, true) || !crate::memory::reserve(none, false) {
        again();
        crate::report::say(
            "cannot reserve 80 TiB of addresses, from 1 TiB on: a limit of virtual memory \
             or data (`ulimit -v`, `ulimit -d`) or vm.overcommit_memory=2 forbids it, or something \
             else has them, such as a second copy of this library",
        );
        // SAFETY: ends the process.
        unsafe { libc::_exit(1) };
    }
}

/// Of so many bytes those that have cells, from the first on; none if the first has none.
#[inline(always)]
fn covered(address: usize, size: usize) -> Range<usize> {
    if !RESERVED.load(Relaxed) {
        // An allocation before this library's own start.
        reserve(|| {});
    }
    let end = match address {
        _ if address < LOW.end => LOW.end,
        _ if HIGH.contains(&address) => HIGH.end,
        _ => return 0..0,
    };
    address..address.saturating_add(size).min(end)
}

fn is_covered(address: usize) -> bool {
    !covered(address, 1).is_empty()
}

/// Notes what happens to some bytes, and reports what it contradicts.
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

/// Where the cells of a granule's address are.
#[inline(always)]
const fn place(address: usize) -> usize {
    (address ^ FLIP) + layout::CELL_OFFSET as usize
}

#[inline(always)]
fn cell(address: usize) -> &'static AtomicU32 {
    // SAFETY: the address is covered, so its cell is reserved; zeroes are valid atomics.
    unsafe { &*ptr::with_exposed_provenance(place(address) & !(GRANULE - 1)) }
}

/// The cells of the word of 8 bytes that has an address.
#[inline(always)]
fn cells(address: usize) -> &'static AtomicU64 {
    // SAFETY: as `cell`; two cells lie at a multiple of 8.
    unsafe { &*ptr::with_exposed_provenance(place(address) & !(PAIR - 1)) }
}

/// What a site keeps under a number, at most [`sites::MAX_SITES`].
pub(crate) fn entries(number: u32) -> &'static Entries {
    // SAFETY: they are reserved; zeroes are valid atomics.
    unsafe { &*ptr::with_exposed_provenance::<Entries>(ENTRIES.start).add(number as usize) }
}

/// Notes an event for the bytes of one granule that `mask` has, of which
/// `address` is the first.
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

/// The number of the states of a granule, if something is known of it.
pub(crate) fn known(address: usize) -> Option<u32> {
    let number = is_covered(address).then(|| cell(address).load(Relaxed))?;
    (number != 0).then_some(number)
}

/// Whether something is known of an address, or a block begins there.
pub(crate) fn is_tracked(address: usize) -> bool {
    known(address).is_some() || block(address).is_some_and(|mark| mark.load(Relaxed) != 0)
}

/// Forgets all about some bytes, and returns how many of them something was known of.
/// `visit` gets the address of each word of 8 bytes before it is forgotten.
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

/// Forgets all about all memory.
pub(crate) fn forget_all() {
    crate::memory::forget(CELLS);
}

/// Whole pages of cells are given back from this many bytes of the program on.
const GIVE_BACK: usize = 1 << 17;
/// The bytes of the program whose cells fill a page of the system.
const PAGE: usize = 4096 / size_of::<u32>() * GRANULE;

/// Forgets all about many bytes that the program has no more: their cells take no memory then.
#[inline]
pub(crate) fn give_back(address: usize, size: usize) {
    if size >= GIVE_BACK {
        clear(address, size);
    }
}

/// Forgets all about some bytes.
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
        let (from, to) = (first.next_multiple_of(PAGE), last & !(PAGE - 1));
        clear_whole(first, from);
        let cells = place(from);
        crate::memory::forget(cells..cells + (to - from));
        at = to;
    }
    clear_whole(at, last);
}

/// The bytes of the program whose cells are looked at together.
const ROUND: usize = 64;

/// Whether nothing is known of so many bytes from a multiple of as many on.
#[inline(always)]
fn is_nothing(at: usize) -> bool {
    let found: u32;
    // SAFETY: the cells are reserved. They are read by assembly, for they are atomic: the processor
    // reads each one whole.
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

/// Clears whole granules.
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

/// Clears some bytes of one granule.
fn clear_part(start: usize, end: usize) {
    if start < end && cell(start).load(Relaxed) != 0 {
        note(start, end - start, Event::CLEAR);
    }
}

/// The mark of a block that begins at an address: a number of who allocated
/// it, or 0; `None` where no block can be.
#[inline]
pub(crate) fn block(address: usize) -> Option<&'static AtomicU16> {
    is_covered(address).then(|| mark(address))
}

fn mark(address: usize) -> &'static AtomicU16 {
    let place = MARKS + address / BLOCK_ALIGN * size_of::<u16>();
    // SAFETY: the address is covered, so its mark is reserved; zeroes are valid atomics.
    unsafe { &*ptr::with_exposed_provenance(place) }
}

/// The last address, at most `address` and at most `far` before it, that has a mark which is
/// not 0 and of whose bits `none` are set; and the mark.
pub(crate) fn block_before(address: usize, far: usize, none: u16) -> Option<(usize, u16)> {
    /// Marks that are looked at together.
    const MANY: usize = size_of::<u64>() / size_of::<u16>();
    let (mut at, least) = (address & !(BLOCK_ALIGN - 1), address.saturating_sub(far));
    while at >= least && is_covered(at) {
        let place = at / BLOCK_ALIGN;
        let found = mark(at).load(Relaxed);
        if found != 0 && found & none == 0 {
            return Some((at, found));
        }
        // SAFETY: as many marks as fill a word lie at a multiple of its size.
        let word: &AtomicU64 = unsafe {
            &*ptr::with_exposed_provenance(MARKS + (place & !(MANY - 1)) * size_of::<u16>())
        };
        let back = if word.load(Relaxed) == 0 { place % MANY + 1 } else { 1 };
        at = at.checked_sub(back * BLOCK_ALIGN)?;
    }
    None
}

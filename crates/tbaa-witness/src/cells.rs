//! Shadow memory: a 32-bit *cell* for each 4 bytes of the program (a *granule*), and a 16-bit
//! *mark* for each 16 bytes. A cell has the number of a *state* (the accesses that are recorded for
//! its bytes), or 0. A heap block has two marks, for its first 16 bytes and the next 16.
//!
//! The program lies below 1 TiB and above 81 TiB, where Linux puts programs, libraries, heaps and
//! stacks. A cell's address is its granule's with bit 46 flipped, plus a page. All addresses
//! from 1 TiB to 81 TiB are reserved at the start. They take no memory until they are touched.
//!
//! | from, TiB | to | |
//! |---|---|---|
//! | 0 | 1 | the program |
//! | 1 | 17 | marks |
//! | 17 | 65 | cells |
//! | 65 | 4 GiB more | the cached results of access instructions, *sites* ([`Entries`]) |
//! | then | 256 MiB more | the tag and size of each site, as one number |
//! | then | 81 | nothing |
//! | 81 | 128 | the program |

use std::arch::global_asm;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering::*};

use tbaa_instrument::layout;

use crate::{log, memory};

/// The number of bytes in a granule. It is small, so that few sites access the same granule.
pub(crate) const GRANULE: usize = 4;
pub(crate) const PAIR: usize = 2 * GRANULE;
/// A mask that selects all bytes of a granule.
pub(crate) const WHOLE: u8 = (1 << GRANULE) - 1;
/// The heap's blocks begin at multiples of this.
pub(crate) const BLOCK_ALIGN: usize = 16;

/// The cached results of a site: for a read, states that it does not contradict; for a write to
/// part of a granule, old states and the new states that replace them.
pub(crate) type Entries = [AtomicU64; layout::ENTRIES];

const TIB: usize = 1 << 40;
/// The bit that differs between a granule's address and its cell's address.
const FLIP: usize = 1 << layout::FLIP;
/// The two address ranges of the program.
const LOW: Range<usize> = 0..TIB;
const HIGH: Range<usize> = 81 * TIB..128 * TIB;
/// The address of the mark for address 0.
const MARKS: usize = TIB;
const CELLS: Range<usize> = place(HIGH.start)..place(0) + LOW.end;
const ENTRIES: Range<usize> =
    CELLS.end..CELLS.end + (layout::MAX_SITES as usize + 1) * size_of::<Entries>();
const KINDS: Range<usize> =
    ENTRIES.end..ENTRIES.end + (layout::MAX_SITES as usize + 1) * size_of::<AtomicU32>();
const _: () = assert!(ENTRIES.start as u64 == layout::ENTRIES_AT);

/// The number of reserved bytes. Of these, [`USABLE`] bytes may be touched.
pub(crate) const ALL: u64 = (HIGH.start - MARKS) as u64;
pub(crate) const USABLE: u64 = (KINDS.end - MARKS) as u64;

static RESERVED: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    /// Reserves shadow memory, then the unused addresses. `RESERVED` stays false if this fails.
    fn __tbaa_witness_reserve();
    /// Does the same. As the resolver of a GNU indirect function it runs before any constructor: an
    /// instrumented `memcpy` that the program defines may be called that early.
    fn __tbaa_witness_early();
}

global_asm!(
    include_str!("cells.s"),
    start = const MARKS,
    own = const USABLE,
    end = const KINDS.end,
    none = const ALL - USABLE,
    access = const libc::PROT_READ | libc::PROT_WRITE,
    flags = const libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE,
    mmap = const libc::SYS_mmap,
    reserved = sym RESERVED,
);

/// Reserves shadow memory unless that is done already. On failure, calls `again`, which may restart
/// the program, and then ends the program.
#[cold]
pub(crate) fn reserve(again: impl FnOnce()) {
    // SAFETY: a new mapping that replaces none.
    unsafe {
        // This reference keeps the function in the program.
        std::hint::black_box(__tbaa_witness_early as *const ());
        if !RESERVED.load(Relaxed) {
            __tbaa_witness_reserve();
        }
    }
    memory::stays_small(MARKS..KINDS.end);
    if !RESERVED.load(Relaxed) {
        again();
        log::say(
            "cannot reserve 80 TiB of addresses, from 1 TiB on: a limit of virtual memory \
             or data (`ulimit -v`, `ulimit -d`) or vm.overcommit_memory=2 forbids it, or something \
             else has them, such as a second copy of this library",
        );
        // SAFETY: ends the process.
        unsafe { libc::_exit(1) };
    }
}

/// Returns the part of a range before its first byte without a cell. It may be empty.
#[inline(always)]
pub(crate) fn covered(address: usize, size: usize) -> Range<usize> {
    if !RESERVED.load(Relaxed) {
        // The program may allocate before this library's constructor runs.
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

/// Returns the address in a cell that corresponds to a byte of the program.
#[inline(always)]
pub(crate) const fn place(address: usize) -> usize {
    (address ^ FLIP) + layout::CELL_OFFSET as usize
}

#[inline(always)]
pub(crate) fn cell(address: usize) -> &'static AtomicU32 {
    // SAFETY: the address is covered, so its cell is reserved; zeroes are valid atomics.
    unsafe { &*ptr::with_exposed_provenance(place(address) & !(GRANULE - 1)) }
}

/// Returns the two cells of the 8-byte word that contains a byte of the program.
#[inline(always)]
pub(crate) fn cells(address: usize) -> &'static AtomicU64 {
    // SAFETY: as `cell`; a pair of cells is aligned to 8.
    unsafe { &*ptr::with_exposed_provenance(place(address) & !(PAIR - 1)) }
}

/// Returns the cached results with this index, which is at most [`layout::MAX_SITES`].
pub(crate) fn entries(number: u32) -> &'static Entries {
    // SAFETY: they are reserved; zeroes are valid atomics.
    unsafe { &*ptr::with_exposed_provenance::<Entries>(ENTRIES.start).add(number as usize) }
}

/// Returns the number for a site's tag and size. `site` is at most [`layout::MAX_SITES`].
#[inline]
pub(crate) fn kind(site: u32) -> &'static AtomicU32 {
    // SAFETY: they are reserved; zeroes are valid atomics.
    unsafe { &*ptr::with_exposed_provenance::<AtomicU32>(KINDS.start).add(site as usize) }
}

/// Returns the number of the state of a granule; `None` if nothing is recorded.
pub(crate) fn known(address: usize) -> Option<u32> {
    let number = is_covered(address).then(|| cell(address).load(Relaxed))?;
    (number != 0).then_some(number)
}

pub(crate) fn is_tracked(address: usize) -> bool {
    known(address).is_some() || block(address).is_some_and(|mark| mark.load(Relaxed) != 0)
}

pub(crate) fn forget_all() {
    memory::forget(CELLS);
}

/// Returns the mark of the 16 bytes that contain an address; `None` if shadow memory does not cover
/// the address. The first mark of a heap block identifies the allocating call. 0 means no mark.
#[inline]
pub(crate) fn block(address: usize) -> Option<&'static AtomicU16> {
    is_covered(address).then(|| mark(address))
}

fn mark(address: usize) -> &'static AtomicU16 {
    let place = MARKS + address / BLOCK_ALIGN * size_of::<u16>();
    // SAFETY: the address is covered, so its mark is reserved; zeroes are valid atomics.
    unsafe { &*ptr::with_exposed_provenance(place) }
}

/// Searches backwards from `address`, by at most `far` bytes, for a mark that is not 0 and has no
/// bit of `none`. Returns the address that the mark is for, and its value.
pub(crate) fn block_before(address: usize, far: usize, none: u16) -> Option<(usize, u16)> {
    /// The number of marks in a 64-bit word. They are read together.
    const MARKS_OF_WORD: usize = size_of::<u64>() / size_of::<u16>();
    let (mut at, least) = (address & !(BLOCK_ALIGN - 1), address.saturating_sub(far));
    while at >= least && is_covered(at) {
        let place = at / BLOCK_ALIGN;
        let found = mark(at).load(Relaxed);
        if found != 0 && found & none == 0 {
            return Some((at, found));
        }
        // SAFETY: a word's worth of marks is aligned to the word's size.
        let word: &AtomicU64 = unsafe {
            &*ptr::with_exposed_provenance(
                MARKS + (place & !(MARKS_OF_WORD - 1)) * size_of::<u16>(),
            )
        };
        let back = if word.load(Relaxed) == 0 { place % MARKS_OF_WORD + 1 } else { 1 };
        at = at.checked_sub(back * BLOCK_ALIGN)?;
    }
    None
}

//! Shadow memory: a cell for each granule of 4 bytes, and marks of blocks.
//!
//! The program lies below 1 TiB and above 81 TiB, where Linux puts programs, libraries, heaps and
//! stacks. A granule's cell is at the granule's address with bit 46 flipped, plus one page. The
//! addresses of cells and marks are reserved when the program starts, and take no memory until they
//! are touched. The gaps are reserved too, so that the program gets no memory without cells:
//!
//! | from, TiB | to | |
//! |---|---|---|
//! | 0 | 1 | the program |
//! | 1 | 17 | marks |
//! | 17 | 65 | cells |
//! | 65 | 65 and 4 GiB | what sites keep ([`Entries`]) |
//! | then | and 256 MiB | the kinds of sites |
//! | then | 81 | nothing |
//! | 81 | 128 | the program |

use std::arch::global_asm;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering::*};

use tbaa_instrument::layout;

use crate::{log, memory};

/// The bytes of a granule. It is small so that few sites share one and few combinations occur.
pub(crate) const GRANULE: usize = 4;
pub(crate) const PAIR: usize = 2 * GRANULE;
/// All bytes of a granule.
pub(crate) const WHOLE: u8 = (1 << GRANULE) - 1;
/// Blocks of the heap begin at a multiple of this.
pub(crate) const BLOCK_ALIGN: usize = 16;

/// A site's cached results: for reads, the classes that they neither change nor contradict; for
/// writes of part of a granule, the old and new numbers.
pub(crate) type Entries = [AtomicU64; layout::ENTRIES];

const TIB: usize = 1 << 40;
/// The bit that differs between a granule's address and its cell's.
const FLIP: usize = 1 << layout::FLIP;
/// The program's addresses.
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

/// The bytes that are reserved in all, and those of them that may be touched.
pub(crate) const ALL: u64 = (HIGH.start - MARKS) as u64;
pub(crate) const USABLE: u64 = (KINDS.end - MARKS) as u64;

/// True once all addresses are reserved.
static RESERVED: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    /// Reserves the addresses of cells and marks, then the gaps. Leaves `RESERVED` false if
    /// something else occupies them.
    fn __tbaa_witness_reserve();
    /// Does the same, earlier: the dynamic linker calls it as a resolver before the first
    /// constructor, and the startup code of a static program before the first function. Both may
    /// call the program's own `memcpy`.
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

/// Reserves the addresses of cells and marks, unless that is done. If it fails, runs `again`, which
/// may restart the program, and then ends the program.
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

/// Returns the leading part of a range that has cells; an empty range if its first byte has none.
#[inline(always)]
pub(crate) fn covered(address: usize, size: usize) -> Range<usize> {
    if !RESERVED.load(Relaxed) {
        // The program has allocated before this library's constructor ran.
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

/// Returns the address of the cell for an address.
#[inline(always)]
pub(crate) const fn place(address: usize) -> usize {
    (address ^ FLIP) + layout::CELL_OFFSET as usize
}

#[inline(always)]
pub(crate) fn cell(address: usize) -> &'static AtomicU32 {
    // SAFETY: the address is covered, so its cell is reserved; zeroes are valid atomics.
    unsafe { &*ptr::with_exposed_provenance(place(address) & !(GRANULE - 1)) }
}

/// Returns the two cells of the 8-byte word that contains an address.
#[inline(always)]
pub(crate) fn cells(address: usize) -> &'static AtomicU64 {
    // SAFETY: as `cell`; a pair of cells is aligned to 8.
    unsafe { &*ptr::with_exposed_provenance(place(address) & !(PAIR - 1)) }
}

/// Returns the entries with a number, at most [`layout::MAX_SITES`].
pub(crate) fn entries(number: u32) -> &'static Entries {
    // SAFETY: they are reserved; zeroes are valid atomics.
    unsafe { &*ptr::with_exposed_provenance::<Entries>(ENTRIES.start).add(number as usize) }
}

/// Returns the kind of a site, whose number is at most [`layout::MAX_SITES`].
#[inline]
pub(crate) fn kind(site: u32) -> &'static AtomicU32 {
    // SAFETY: they are reserved; zeroes are valid atomics.
    unsafe { &*ptr::with_exposed_provenance::<AtomicU32>(KINDS.start).add(site as usize) }
}

/// Returns the number of a granule's states; `None` if nothing is known.
pub(crate) fn known(address: usize) -> Option<u32> {
    let number = is_covered(address).then(|| cell(address).load(Relaxed))?;
    (number != 0).then_some(number)
}

/// Returns whether something is known of an address, or a block begins there.
pub(crate) fn is_tracked(address: usize) -> bool {
    known(address).is_some() || block(address).is_some_and(|mark| mark.load(Relaxed) != 0)
}

/// Forgets everything about all memory.
pub(crate) fn forget_all() {
    memory::forget(CELLS);
}

/// Returns the mark of a block that begins at an address: the allocation's place by number, or 0.
/// `None` if no block can begin there.
#[inline]
pub(crate) fn block(address: usize) -> Option<&'static AtomicU16> {
    is_covered(address).then(|| mark(address))
}

fn mark(address: usize) -> &'static AtomicU16 {
    let place = MARKS + address / BLOCK_ALIGN * size_of::<u16>();
    // SAFETY: the address is covered, so its mark is reserved; zeroes are valid atomics.
    unsafe { &*ptr::with_exposed_provenance(place) }
}

/// Searches backwards from `address`, at most `far` bytes, for a mark that is not 0 and has no bit
/// of `none`. Returns its address and value.
pub(crate) fn block_before(address: usize, far: usize, none: u16) -> Option<(usize, u16)> {
    /// The number of marks in a word, which are read together.
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

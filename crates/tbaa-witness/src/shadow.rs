//! What is known of each byte of the program's memory.
//!
//! The *state* of a byte is the site that wrote it last, and a site that has
//! read it since. Each granule of 4 bytes has a *cell* of 32 bits, a number that
//! stands for the states of its bytes ([`crate::states`]); 0 says that nothing
//! is known. Cells lie in *leaves*, one for each 64 MiB that the program uses,
//! mapped when first needed and of no weight until touched.
//!
//! Threads: cells are atomic, and no lock is taken where a granule's bytes go
//! from states to states as others have before. Two threads that touch one byte
//! at once race in the program already; those that touch neighbours in a granule
//! lose nothing, for a change of some of its bytes is a compare-and-exchange.

use std::ops::Range;
use std::ptr;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering::*,
};

use crate::states::{self, Event};

/// The bytes of the program that one leaf covers, as a power of 2.
const LEAF_BITS: u32 = 26;
/// User space, as a power of 2.
const ADDRESS_BITS: u32 = 48;
const LEAF_BYTES: usize = 1 << LEAF_BITS;
/// In bytes. Few sites share so little, which keeps the combinations few.
pub(crate) const GRANULE: usize = 4;
const PAIR: usize = 2 * GRANULE;
/// All bytes of a granule.
const WHOLE: u8 = (1 << GRANULE) - 1;
/// In a leaf: cells of granules, then marks of blocks.
const CELLS: usize = LEAF_BYTES / GRANULE;
/// A block of the heap begins at a multiple of this.
pub(crate) const BLOCK_ALIGN: usize = 16;
const LEAF_SIZE: usize = CELLS * size_of::<u32>() + LEAF_BYTES / BLOCK_ALIGN * size_of::<u16>();

/// Where the leaf of each 64 MiB would begin if it had the cell of address 0, so that the cell of a
/// granule lies as far from there as the granule from 0; null where there is no leaf. Modules
/// look at it before they call this library, as at [`THREADED`].
#[unsafe(export_name = "__tbaa_witness_leaves")]
pub(crate) static LEAVES: [AtomicPtr<AtomicU32>; 1 << (ADDRESS_BITS - LEAF_BITS)] =
    [const { AtomicPtr::new(ptr::null_mut()) }; 1 << (ADDRESS_BITS - LEAF_BITS)];

/// Whether the program has had a second thread. Until then a plain store does,
/// which takes a fifth of the time.
#[unsafe(export_name = "__tbaa_witness_threaded")]
pub(crate) static THREADED: AtomicBool = AtomicBool::new(false);

/// Notes what happens to some bytes, and reports what it contradicts.
#[inline(always)]
pub(crate) fn note(address: usize, size: usize, event: Event) {
    let offset = address % GRANULE;
    if size <= GRANULE - offset && size > 0 {
        granule(address, mask(offset, size), event);
    } else if size == PAIR && address.is_multiple_of(PAIR) {
        pair(address, event);
    } else {
        note_all(address, size, event);
    }
}

#[inline(always)]
fn mask(offset: usize, size: usize) -> u8 {
    (WHOLE >> (GRANULE - size)) << offset
}

/// The same for any number of granules.
#[inline(never)]
pub(crate) extern "C" fn note_all(address: usize, size: usize, event: Event) {
    let mut at = address;
    let mut left = size;
    while left > 0 {
        let offset = at % GRANULE;
        let mut here = left.min(GRANULE - offset);
        let of = |here: usize| event.followed_by(left - here);
        if left >= PAIR && at.is_multiple_of(PAIR) {
            here = PAIR;
            pair(at, of(here));
        } else {
            granule(at, mask(offset, here), of(here));
        }
        at = at.wrapping_add(here);
        left -= here;
    }
}

/// The leaf of an address, mapped if need be; `None` outside user space, and
/// where no memory is left.
#[inline(always)]
fn leaf(address: usize) -> Option<*mut AtomicU32> {
    mapped(address).or_else(|| map_leaf(address >> LEAF_BITS))
}

#[cold]
fn map_leaf(place: usize) -> Option<*mut AtomicU32> {
    let slot = LEAVES.get(place)?;
    let mapped: *mut AtomicU32 = crate::memory::map(LEAF_SIZE)?.cast();
    let base = place << LEAF_BITS;
    match slot.compare_exchange(ptr::null_mut(), mapped.wrapping_byte_sub(base), AcqRel, Acquire) {
        Ok(_) => {
            // A place that is not written yet is 0, a leaf that is looked at in vain.
            if let Some(last) = MAPPED.get(MAPPED_COUNT.fetch_add(1, AcqRel)) {
                last.store(place, Release);
            }
            Some(mapped)
        }
        Err(other) => {
            crate::memory::unmap(mapped.cast(), LEAF_SIZE);
            Some(other.wrapping_byte_add(base))
        }
    }
}

#[inline(always)]
fn cell<'l>(leaf: *mut AtomicU32, address: usize) -> &'l AtomicU32 {
    // SAFETY: a leaf has a cell for each granule of its bytes, is never
    // unmapped once it is in the table, and zeroes are valid atomics.
    unsafe { &*leaf.add((address & (LEAF_BYTES - 1)) / GRANULE) }
}

/// The leaf of an address, if it is mapped.
#[inline(always)]
fn mapped(address: usize) -> Option<*mut AtomicU32> {
    let leaf = LEAVES.get(address >> LEAF_BITS)?.load(Acquire);
    (!leaf.is_null()).then(|| leaf.wrapping_byte_add(address & !(LEAF_BYTES - 1)))
}

/// Notes an event for the bytes of one granule that `mask` has, of which
/// `address` is the first: what most events need, and no more.
#[inline(always)]
fn granule(address: usize, mask: u8, event: Event) {
    if let Some(leaf) = mapped(address) {
        let cell = cell(leaf, address);
        let old = cell.load(Relaxed);
        if let Some(new) = states::seen(old, mask, event) {
            if new == old {
                return;
            }
            if mask == WHOLE || !THREADED.load(Relaxed) {
                return cell.store(new, Relaxed);
            }
        }
    }
    change(address, mask, event);
}

/// The same for all bytes of two granules, the first at an even place: most
/// often they are in one state.
#[inline(always)]
fn pair(address: usize, event: Event) {
    if let Some(leaf) = mapped(address) {
        let (one, two) = (cell(leaf, address), cell(leaf, address + GRANULE));
        let old = one.load(Relaxed);
        if two.load(Relaxed) == old
            && let Some(new) = states::seen(old, WHOLE, event)
        {
            if new != old {
                one.store(new, Relaxed);
                two.store(new, Relaxed);
            }
            return;
        }
    }
    change_pair(address, event);
}

/// The same, whatever it needs. The C ABI, here and where else a check ends in a
/// call, for what cannot unwind leaves the check without a frame.
#[cold]
pub(crate) extern "C" fn change(address: usize, mask: u8, event: Event) {
    let Some(leaf) = leaf(address) else { return };
    let cell = cell(leaf, address);
    loop {
        let old = cell.load(Relaxed);
        let new = states::after(old, mask, event, address);
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

#[cold]
pub(crate) extern "C" fn change_pair(address: usize, event: Event) {
    change(address, WHOLE, event.followed_by(usize::from(event.more) + GRANULE));
    change(address + GRANULE, WHOLE, event);
}

/// The number of the states of a granule, if something is known of it.
pub(crate) fn known(address: usize) -> Option<u32> {
    let number = cell(mapped(address)?, address).load(Relaxed);
    (number != 0).then_some(number)
}

/// Whether something is known of an address, or a block begins there.
pub(crate) fn is_tracked(address: usize) -> bool {
    known(address).is_some() || block(address, false).is_some_and(|mark| mark.load(Relaxed) != 0)
}

/// Forgets all about some bytes, and returns how many of them something was known of.
/// `visit` gets the address of each word of 8 bytes before it is forgotten.
pub(crate) fn forget(start: usize, size: usize, mut visit: impl FnMut(usize)) -> usize {
    let mut at = start & !(PAIR - 1);
    let end = start.saturating_add(size).min(1 << ADDRESS_BITS);
    let mut bytes = 0;
    while at < end {
        let next = ((at | (LEAF_BYTES - 1)) + 1).min(end);
        if let Some(leaf) = mapped(at) {
            let mut word = at;
            while word < next {
                // SAFETY: the two cells of a word lie at a multiple of 8.
                let both = unsafe { &*std::ptr::from_ref(cell(leaf, word)).cast::<AtomicU64>() };
                if both.load(Relaxed) != 0 {
                    bytes += forget_word(leaf, word, start..end, &mut visit);
                }
                word += PAIR;
            }
        }
        at = next;
    }
    bytes
}

fn forget_word(
    leaf: *mut AtomicU32,
    word: usize,
    range: Range<usize>,
    visit: &mut impl FnMut(usize),
) -> usize {
    let places = [word, word + GRANULE];
    if places.into_iter().all(|at| cell(leaf, at).load(Relaxed) != 0) {
        visit(word);
    }
    let mut bytes = 0;
    for at in places {
        let cell = cell(leaf, at);
        if at + GRANULE > range.start && at < range.end && cell.load(Relaxed) != 0 {
            cell.store(0, Relaxed);
            bytes += GRANULE;
        }
    }
    bytes
}

/// The leaves that are mapped, by their places in [`LEAVES`]; of more than these the table
/// itself is looked through.
static MAPPED: [AtomicUsize; 1 << 10] = [const { AtomicUsize::new(0) }; 1 << 10];
static MAPPED_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Forgets all about all memory.
pub(crate) fn forget_all() {
    let forget = |place: usize| {
        if let Some(leaf) = mapped(place << LEAF_BITS) {
            crate::memory::forget(leaf.cast(), CELLS * size_of::<u32>());
        }
    };
    let count = MAPPED_COUNT.load(Acquire);
    match MAPPED.get(..count) {
        Some(mapped) => mapped.iter().for_each(|at| forget(at.load(Acquire))),
        None => (0..LEAVES.len()).for_each(forget),
    }
}

/// Whole pages of cells are given back from this many bytes of the program on.
const GIVE_BACK: usize = 1 << 17;
/// The bytes of the program whose cells fill a page of the system.
const PAGE: usize = 4096 / size_of::<u32>() * GRANULE;

/// Forgets all about some bytes, mapping nothing.
#[inline]
pub(crate) fn clear(address: usize, size: usize) {
    let offset = address % PAIR;
    if size <= PAIR - offset
        && let Some(leaf) = mapped(address)
    {
        let (one, two) = (cell(leaf, address - offset), cell(leaf, address - offset + GRANULE));
        if one.load(Relaxed) | two.load(Relaxed) == 0 {
            return;
        }
        if size == PAIR {
            one.store(0, Relaxed);
            return two.store(0, Relaxed);
        }
        if size == GRANULE && address.is_multiple_of(GRANULE) {
            return cell(leaf, address).store(0, Relaxed);
        }
    }
    clear_all(address, size);
}

/// The same for any number of granules.
#[inline(never)]
extern "C" fn clear_all(address: usize, size: usize) {
    let mut at = address;
    let Some(end) = address.checked_add(size).filter(|end| *end <= 1 << ADDRESS_BITS) else {
        return;
    };
    while at < end {
        let next = ((at | (LEAF_BYTES - 1)) + 1).min(end);
        if let Some(leaf) = mapped(at) {
            clear_in(leaf, at, next);
        }
        at = next;
    }
}

/// The same within one leaf.
#[inline]
fn clear_in(leaf: *mut AtomicU32, start: usize, end: usize) {
    let (first, last) = (start.next_multiple_of(GRANULE).min(end), end & !(GRANULE - 1));
    if first >= last {
        clear_part(leaf, start, first);
        return clear_part(leaf, first, end);
    }
    clear_part(leaf, start, first);
    clear_part(leaf, last, end);
    let mut at = first;
    if last - first >= GIVE_BACK {
        let (from, to) = (first.next_multiple_of(PAGE), last & !(PAGE - 1));
        clear_whole(leaf, first, from);
        let cells: *const AtomicU32 = cell(leaf, from);
        crate::memory::forget(cells.cast_mut().cast(), (to - from) / GRANULE * size_of::<u32>());
        at = to;
    }
    clear_whole(leaf, at, last);
}

#[inline]
fn clear_whole(leaf: *mut AtomicU32, start: usize, end: usize) {
    for at in (start..end).step_by(GRANULE) {
        let cell = cell(leaf, at);
        if cell.load(Relaxed) != 0 {
            cell.store(0, Relaxed);
        }
    }
}

/// Clears some bytes of one granule.
fn clear_part(leaf: *mut AtomicU32, start: usize, end: usize) {
    if start < end && cell(leaf, start).load(Relaxed) != 0 {
        note(start, end - start, Event::CLEAR);
    }
}

/// The mark of a block that begins at an address: a number of who allocated
/// it, or 0. The leaf is mapped if `map` says so.
#[inline]
pub(crate) fn block(address: usize, map: bool) -> Option<&'static AtomicU16> {
    let leaf = if map { leaf(address)? } else { mapped(address)? };
    // SAFETY: the marks follow the cells, one for each 16 bytes.
    unsafe {
        let marks: *const AtomicU16 = leaf.add(CELLS).cast();
        Some(&*marks.add((address & (LEAF_BYTES - 1)) / BLOCK_ALIGN))
    }
}

/// The last address, at most `address` and at most `far` before it, that has a mark which is
/// not 0 and of whose bits `none` are set; and the mark.
pub(crate) fn block_before(address: usize, far: usize, none: u16) -> Option<(usize, u16)> {
    /// Marks that are looked at together.
    const MANY: usize = size_of::<u64>() / size_of::<u16>();
    let (mut at, least) = (address & !(BLOCK_ALIGN - 1), address.saturating_sub(far));
    while at >= least {
        let Some(leaf) = mapped(at) else {
            at = (at & !(LEAF_BYTES - 1)).checked_sub(BLOCK_ALIGN)?;
            continue;
        };
        let place = (at & (LEAF_BYTES - 1)) / BLOCK_ALIGN;
        // SAFETY: the marks follow the cells, one for each 16 bytes; as many as fill a word
        // lie at a multiple of its size.
        let (mark, word) = unsafe {
            let marks: *const AtomicU16 = leaf.add(CELLS).cast();
            let word: *const AtomicU64 = marks.add(place & !(MANY - 1)).cast();
            ((*marks.add(place)).load(Relaxed), (*word).load(Relaxed))
        };
        if mark != 0 && mark & none == 0 {
            return Some((at, mark));
        }
        let back = if word == 0 { place % MANY + 1 } else { 1 };
        at = at.checked_sub(back * BLOCK_ALIGN)?;
    }
    None
}

//! Finds the object that contains an address: a heap block of the C library, another allocator's
//! block, or a mapping. Two 16-bit *marks* in shadow memory describe a heap block.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::*};

use crate::cells::{self, BLOCK_ALIGN};
use crate::lock::Lock;
use crate::memory::PAGE;
use crate::symbols;

/// The return addresses of allocating calls. A block's first mark is an index here, 0 if unknown.
static CALLERS: [AtomicU64; CALLER_COUNT] = [const { AtomicU64::new(0) }; CALLER_COUNT];

const CALLER_COUNT: usize = SPARE as usize;
/// The number of indices tried for a caller. If all are in use, the caller gets index 0.
const PROBES: usize = 16;
/// Of heap blocks, [`owner`] finds those that begin at most this many bytes before the address.
const MAX_BLOCK: usize = 64 << 20;
/// The same limit for [`containing`], which must be fast.
const NEAR: usize = 64 << 10;

/// Returns the number of usable bytes of a heap block. The program may have requested fewer.
pub(crate) fn usable(block: *mut u8) -> usize {
    // SAFETY: a null pointer, or a block that has been allocated and not freed.
    unsafe { libc::malloc_usable_size(block.cast()) }
}

/// Set in a block's second mark. The lower bits of that mark hold the number of usable bytes that
/// the program did not request, at most 2^15 - 1.
const SPARE: u16 = 1 << 15;

/// Records a block's caller and its requested bytes in its two marks. Every block is large enough
/// to have two.
pub(crate) fn mark(block: *mut u8, asked: usize, caller: usize) {
    if let Some(mark) = cells::block(block.addr()) {
        mark.store(number_of(caller), Relaxed);
    }
    if let Some(mark) = cells::block(block.addr() + BLOCK_ALIGN) {
        let spare = usable(block).saturating_sub(asked);
        mark.store(SPARE | spare.min(usize::from(!SPARE)) as u16, Relaxed);
    }
}

pub(crate) fn freed(block: *mut u8) {
    for at in [block.addr(), block.addr().wrapping_add(BLOCK_ALIGN)] {
        if let Some(mark) = cells::block(at) {
            mark.store(0, Relaxed);
        }
    }
}

/// Returns whether a block has a first mark: the C library allocated it, for a known caller.
fn is_known(block: *mut u8) -> bool {
    cells::block(block.addr()).is_some_and(|mark| mark.load(Relaxed) != 0)
}

/// Blocks that are not [known](is_known), by the page in which they begin. The upper bits
/// of an entry are the block's offset in the page, the lower bits its size. Each page has one
/// sorted list, which takes less memory than a map entry for each block.
static OTHERS: Lock<BTreeMap<usize, Vec<u64>>> = Lock::new(BTreeMap::new());

const SIZE_BITS: u32 = 52;
const MAX_SIZE: u64 = (1 << SIZE_BITS) - 1;

/// Mapped parts of the address space, by start address. The value is the size in bytes.
static MAPPINGS: Lock<BTreeMap<usize, usize>> = Lock::new(BTreeMap::new());

/// Returns the index of the block that begins at `start`, or else the index to insert it at.
fn search(list: &[u64], start: usize) -> Result<usize, usize> {
    list.binary_search_by_key(&(start % PAGE), |entry| (entry >> SIZE_BITS) as usize)
}

/// Records a block that an allocation function has returned to instrumented code. Returns false if
/// the block is null or [known](is_known) already.
pub(crate) fn returned(block: *mut u8, size: usize) -> bool {
    let is_new = !block.is_null() && !is_known(block);
    if let Some(mut others) = OTHERS.take().filter(|_| is_new) {
        let start = block.addr();
        let list = others.entry(start / PAGE).or_default();
        let entry = ((start % PAGE) as u64) << SIZE_BITS | (size as u64).min(MAX_SIZE);
        match search(list, start) {
            Ok(at) => list[at] = entry,
            Err(at) => list.insert(at, entry),
        }
    }
    is_new
}

/// Records that instrumented code is about to free a block. Returns the block's size if
/// [`returned`] has recorded it.
pub(crate) fn released(block: *mut u8) -> Option<usize> {
    if block.is_null() || is_known(block) {
        return None;
    }
    let mut others = OTHERS.take()?;
    let page = block.addr() / PAGE;
    let list = others.get_mut(&page)?;
    let at = search(list, block.addr()).ok()?;
    let size = bytes_of(list.remove(at));
    if list.is_empty() {
        others.remove(&page);
    }
    Some(size)
}

fn bytes_of(entry: u64) -> usize {
    (entry & MAX_SIZE) as usize
}

/// Records that a part of the address space was mapped (`is` is true) or unmapped.
pub(crate) fn mapped(start: usize, size: usize, is: bool) {
    let Some(end) = start.checked_add(size).filter(|_| size > 0) else { return };
    // Blocks in this range no longer exist.
    if let Some(mut others) = OTHERS.take() {
        let pages = others.range(start / PAGE..end.div_ceil(PAGE)).map(|(page, _)| *page);
        pages.collect::<Vec<_>>().iter().for_each(|page| drop(others.remove(page)));
    }
    let Some(mut mappings) = MAPPINGS.take() else { return };
    let below = mappings.range(..end).rev().map(|(at, size)| (*at, *size));
    let met: Vec<_> = below.take_while(|(at, size)| at + size > start).collect();
    for (at, size) in met {
        mappings.remove(&at);
        let rest = [(at, start.saturating_sub(at)), (end, (at + size).saturating_sub(end))];
        mappings.extend(rest.into_iter().filter(|(_, size)| *size > 0));
    }
    if is {
        mappings.insert(start, size);
    }
}

/// Returns the start and size of the block in [`OTHERS`] that contains an address, or else of the
/// mapping that does, and true for a mapping. Only the last 64 blocks that begin at or before the
/// address are tried.
fn other(address: usize) -> Option<(usize, usize, bool)> {
    let others = OTHERS.take()?;
    let blocks = others.range(..=address / PAGE).rev().flat_map(|(page, list)| {
        let start = page * PAGE;
        let range = move |entry: &u64| (start + (entry >> SIZE_BITS) as usize, bytes_of(*entry));
        list.iter().rev().map(range)
    });
    let has = |(at, size): &(usize, usize)| address - at < *size;
    let block = blocks.skip_while(|(at, _)| *at > address).take(64).find(has);
    let mapping = || MAPPINGS.take()?.range(..=address).next_back().map(|(at, size)| (*at, *size));
    let found = block.map(|(at, size)| (at, size, false));
    found.or_else(|| mapping().filter(has).map(|(at, size)| (at, size, true)))
}

fn number_of(caller: usize) -> u16 {
    let caller = caller as u64;
    let hash = (caller.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 49) as usize;
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

/// Returns the start and size of the block that contains an address. If the address is in a
/// mapping instead, returns the part of the mapping from the address on. Heap blocks that begin
/// more than [`NEAR`] bytes before the address are not found.
pub(crate) fn containing(address: usize) -> Option<(usize, usize)> {
    match heap(address, NEAR) {
        Some((start, size, _)) => Some((start, size)),
        // The part of a mapping before the address may hold other objects.
        None => other(address).map(|(start, size, is_mapping)| match is_mapping {
            true => (address, size - (address - start)),
            false => (start, size),
        }),
    }
}

/// Describes for a report which object contains an address.
pub(crate) fn owner(address: usize) -> String {
    if let Some((start, size, number)) = heap(address, MAX_BLOCK) {
        let caller = CALLERS[number as usize].load(Relaxed) as usize;
        let caller = symbols::line(caller.wrapping_sub(1));
        let offset = address - start;
        return format!("at {offset} of a block of {size} bytes, allocated by {caller}");
    }
    if let Some((start, size, is_mapping)) = other(address) {
        let what = if is_mapping { "mapping" } else { "block" };
        return format!("at {} of a {what} of {size} bytes", address - start);
    }
    if let Some(name) = symbols::variable(address) {
        return format!("in {name}, a variable of the program");
    }
    let here = std::ptr::from_ref(&address).addr();
    // A stack usually has 8 MiB. Addresses further away may be on other threads' stacks.
    if address.abs_diff(here) < 8 << 20 {
        "on the stack".to_owned()
    } else {
        "in memory that no allocation seen here has given out".to_owned()
    }
}

/// Returns the heap block that contains an address and begins at most `far` bytes before it: its
/// start, its requested bytes, and its caller's index. Freed blocks are not found.
fn heap(address: usize, far: usize) -> Option<(usize, usize, u16)> {
    let (start, number) = cells::block_before(address, far, SPARE)?;
    let mark = |at| cells::block(at).map_or(0, |mark| mark.load(Relaxed));
    // The marks show that the block was allocated and not freed.
    let usable = usable(std::ptr::without_provenance_mut(start));
    let size = usable - usize::from(mark(start + BLOCK_ALIGN) & !SPARE).min(usable);
    (address - start < usable.max(1)).then_some((start, size, number))
}

//! Who owns memory: blocks of the heap by who allocated them, and others.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::*};

use crate::cells::{self, BLOCK_ALIGN};
use crate::lock::Lock;
use crate::symbols;

/// Places that allocated, by their numbers; 0 is none.
static CALLERS: [AtomicU64; CALLER_COUNT] = [const { AtomicU64::new(0) }; CALLER_COUNT];

const CALLER_COUNT: usize = SPARE as usize;
/// Places that are looked at for a caller before it stays unnamed.
const PROBES: usize = 16;
/// How far before an address the beginning of its block is looked for.
const MAX_BLOCK: usize = 64 << 20;
/// The same where it matters how long that takes.
const NEAR: usize = 64 << 10;

/// The bytes of a block of the heap, which may be more than were asked for: they
/// become the program's where the block grows in its place.
pub(crate) fn usable(block: *mut u8) -> usize {
    // SAFETY: a null pointer, or a block that has been allocated and not freed.
    unsafe { libc::malloc_usable_size(block.cast()) }
}

/// Set in the mark of a block's second part, which says how many of its bytes nobody
/// asked for.
const SPARE: u16 = 1 << 15;

/// Notes who allocated a block, and how many bytes were asked for. A block has two marks,
/// for it is never smaller than what two marks stand for.
pub(crate) fn mark(block: *mut u8, asked: usize, caller: usize) {
    if let Some(mark) = cells::block(block.addr()) {
        mark.store(number_of(caller), Relaxed);
    }
    if let Some(mark) = cells::block(block.addr() + BLOCK_ALIGN) {
        let spare = usable(block).saturating_sub(asked);
        mark.store(SPARE | u16::try_from(spare).unwrap_or(0) & !SPARE, Relaxed);
    }
}

/// Notes that a block is no more.
pub(crate) fn freed(block: *mut u8) {
    for at in [block.addr(), block.addr().wrapping_add(BLOCK_ALIGN)] {
        if let Some(mark) = cells::block(at) {
            mark.store(0, Relaxed);
        }
    }
}

/// Whether a block has marks.
fn is_known(block: *mut u8) -> bool {
    cells::block(block.addr()).is_some_and(|mark| mark.load(Relaxed) != 0)
}

/// Blocks of an allocator that is not the C library's, and parts of the address space that
/// were mapped: their starts, and their bytes.
static OTHERS: Lock<BTreeMap<usize, Other>> = Lock::new(BTreeMap::new());

/// Twice the bytes, and 1 more for a mapping: there may be many.
#[derive(Clone, Copy)]
struct Other(usize);

impl Other {
    fn new(size: usize, mapped: bool) -> Self {
        Other(size << 1 | usize::from(mapped))
    }

    fn size(self) -> usize {
        self.0 >> 1
    }

    fn mapped(self) -> bool {
        self.0 & 1 != 0
    }
}

/// Notes what an allocation function has returned to checked code, and returns whether it is new:
/// the C library's are known already.
pub(crate) fn returned(block: *mut u8, size: usize) -> bool {
    let is_new = !block.is_null() && !is_known(block);
    if let Some(mut others) = OTHERS.take().filter(|_| is_new) {
        others.insert(block.addr(), Other::new(size, false));
    }
    is_new
}

/// Notes that checked code is about to give a block back, and returns its bytes if it is not the C
/// library's.
pub(crate) fn released(block: *mut u8) -> Option<usize> {
    if block.is_null() || is_known(block) {
        return None;
    }
    Some(OTHERS.take()?.remove(&block.addr())?.size())
}

/// Notes that a part of the address space was mapped, or, if not, unmapped.
pub(crate) fn mapped(start: usize, size: usize, is: bool) {
    let Some(end) = start.checked_add(size).filter(|_| size > 0) else { return };
    let Some(mut others) = OTHERS.take() else { return };
    let met: Vec<_> = others
        .range(..end)
        .rev()
        .take_while(|(at, other)| *at + other.size() > start || !other.mapped())
        .filter(|(at, other)| other.mapped() && *at + other.size() > start)
        .map(|(at, other)| (*at, *other))
        .collect();
    for (at, other) in met {
        others.remove(&at);
        let rest = [(at, start.saturating_sub(at)), (end, (at + other.size()).saturating_sub(end))];
        for (at, size) in rest.into_iter().filter(|(_, size)| *size > 0) {
            others.insert(at, Other::new(size, true));
        }
    }
    if is {
        others.insert(start, Other::new(size, true));
    }
}

/// The block or mapping that has an address: its start, and its bytes.
fn other(address: usize) -> Option<(usize, Other)> {
    let others = OTHERS.take()?;
    let has = |(at, other): &(&usize, &Other)| address - **at < other.size();
    // A mapping may hold blocks, but not the other way.
    let (at, other) = others.range(..=address).rev().take(64).find(has)?;
    Some((*at, *other))
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

/// The block or mapping that has an address, from which on it is the program's: its start
/// and its bytes.
///
/// A block that begins far before the address is not found.
pub(crate) fn containing(address: usize) -> Option<(usize, usize)> {
    match heap(address, NEAR) {
        Some((start, size, _)) => Some((start, size)),
        // Of a mapping what lies before may be anything.
        None => other(address).map(|(start, other)| match other.mapped() {
            true => (address, other.size() - (address - start)),
            false => (start, other.size()),
        }),
    }
}

/// Says in words whose an address is.
pub(crate) fn owner(address: usize) -> String {
    if let Some((start, size, number)) = heap(address, MAX_BLOCK) {
        let caller = CALLERS[number as usize].load(Relaxed) as usize;
        let caller = symbols::line(caller.wrapping_sub(1));
        let offset = address - start;
        return format!("at {offset} of a block of {size} bytes, allocated by {caller}");
    }
    if let Some((start, other)) = other(address) {
        let what = if other.mapped() { "mapping" } else { "block" };
        return format!("at {} of a {what} of {} bytes", address - start, other.size());
    }
    if let Some(name) = symbols::variable(address) {
        return format!("in {name}, a variable of the program");
    }
    let here = std::ptr::from_ref(&address).addr();
    // A thread's stack is 8 MiB; one further away is another thread's.
    if address.abs_diff(here) < 8 << 20 {
        "on the stack".to_owned()
    } else {
        "in memory that no allocation seen here has given out".to_owned()
    }
}

/// The C library's block that has an address, begins at most so far before it, and is not
/// freed: its start, the bytes that were asked for, and the number of who asked.
fn heap(address: usize, far: usize) -> Option<(usize, usize, u16)> {
    let (start, number) = cells::block_before(address, far, SPARE)?;
    let mark = |at| cells::block(at).map_or(0, |mark| mark.load(Relaxed));
    // A block that is marked has been allocated and not freed.
    let usable = usable(std::ptr::without_provenance_mut(start));
    let size = usable - usize::from(mark(start + BLOCK_ALIGN) & !SPARE).min(usable);
    (address - start < usable.max(1)).then_some((start, size, number))
}

//! Handles calls of functions that are not instrumented. Such a function may write all memory that
//! it can reach through its pointers. So what is recorded for this memory is cleared.
//!
//! The function can reach the block, mapping or variable that an argument points to, and the
//! targets of pointers that instrumented code has stored there. If the end of this memory is
//! unknown, [`UNKNOWN`] or [`UNKNOWN_INNER`] bytes are assumed. Functions for which [`is_harmless`]
//! holds are skipped. So are this library's own functions, because they clear records themselves.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::*};

use tbaa_instrument::{is_harmless, known_names, parts};

use crate::lock::{Lock, enter};
use crate::memory::Words;
use crate::options::{glob, options};
use crate::symbols::source_name;
use crate::{blocks, cells, interpose, shadow, symbols};

/// Counts the calls of one function that is not instrumented, and the records that they cleared.
#[derive(Clone, Default)]
pub(crate) struct Calls {
    pub(crate) times: u64,
    /// The number of bytes whose records were cleared.
    pub(crate) bytes: u64,
    /// The number of calls that cleared all records.
    pub(crate) all: u64,
    harmless: bool,
    /// The largest number of bytes written through one argument; `None` if this is unknown.
    most: Option<u64>,
}

static CALLS: Lock<Option<HashMap<usize, Calls>>> = Lock::new(None);
/// A cache of harmless functions, hashed by address.
static HARMLESS: [AtomicUsize; 1 << 10] = [const { AtomicUsize::new(0) }; 1 << 10];

/// The number of bytes assumed to be reachable through an argument, if their end is unknown.
const UNKNOWN: usize = 64 << 10;
/// The number of bytes assumed likewise for a pointer that is stored in memory.
const UNKNOWN_INNER: usize = 4 << 10;
/// A call that reaches more memory ranges than this clears all records.
const OBJECTS: usize = 512;

/// Returns the name of the function at an address, if it is one of [`known_names`]. `dladdr` may
/// return another name, or none if the function has variants for different processors.
fn known_at(function: usize) -> Option<&'static str> {
    static KNOWN: OnceLock<HashMap<usize, &'static str>> = OnceLock::new();
    let address = |name: &'static str| {
        let text = CString::new(name).ok()?;
        // SAFETY: the name ends in 0.
        let at = unsafe { libc::dlsym(libc::RTLD_DEFAULT, text.as_ptr()) };
        (!at.is_null()).then_some((at.addr(), name))
    };
    // SAFETY: only reads a value. A static program has no dynamic linker.
    let has_linker = unsafe { libc::getauxval(libc::AT_BASE) } != 0;
    let known = KNOWN.get_or_init(|| {
        let known = known_names().filter(|_| has_linker).filter_map(address).collect();
        // SAFETY: clears the error of failed lookups, which the program would see.
        unsafe { libc::dlerror() };
        known
    });
    known.get(&function).copied()
}

/// Handles a call that passes a pointer to `size` bytes; 0 means an unknown number.
pub(crate) fn called(callee: usize, pointer: usize, size: usize) {
    let slot = &HARMLESS[callee.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54];
    if slot.load(Relaxed) == callee {
        return;
    }
    let Some(inside) = enter() else { return shadow::clear(pointer, size.max(1)) };
    let Some(mut calls) = CALLS.take() else {
        forget(pointer, size);
        return;
    };
    let calls = calls.get_or_insert_with(HashMap::new);
    let call = calls.entry(callee).or_insert_with(|| {
        let name = known_at(callee).map(str::to_owned);
        let name = name.or_else(|| symbols::linked_name(callee)).unwrap_or_default();
        let harmless = is_harmless(name.as_bytes())
            || options()
                .harmless
                .iter()
                .any(|harmless| glob(harmless, &name) || glob(harmless, &source_name(&name)))
            || interpose::is_own(callee, &name);
        let most =
            parts(name.as_bytes()).and_then(|parts| parts.iter().map(|(_, size)| *size).max());
        Calls { harmless, most, ..Calls::default() }
    });
    if call.harmless {
        return slot.store(callee, Relaxed);
    }
    if let Some(most) = call.most {
        drop(inside);
        return shadow::clear(pointer, most as usize);
    }
    call.times += 1;
    match forget(pointer, size) {
        Some(bytes) => call.bytes += bytes as u64,
        None => call.all += 1,
    }
}

/// Clears all records, because inline assembly may write any memory.
pub(crate) fn barrier() {
    cells::forget_all();
    let inside = enter();
    if let Some(mut calls) = CALLS.take().filter(|_| inside.is_some()) {
        let call = calls.get_or_insert_with(HashMap::new).entry(0).or_default();
        call.times += 1;
        call.all += 1;
    }
}

/// Clears the records of everything that a pointer reaches. Returns the number of bytes that had
/// records, or `None` if all records were cleared.
fn forget(pointer: usize, size: usize) -> Option<usize> {
    let reach = |at: usize, size: usize, unknown: usize| match size {
        0 => blocks::containing(at).unwrap_or((at, unknown)),
        size => (at, size),
    };
    let mut next = vec![reach(pointer, size, UNKNOWN)];
    let mut seen: HashSet<usize> = HashSet::new();
    let mut words = Words::new();
    let mut bytes = 0;
    while let Some((start, size)) = next.pop() {
        if !seen.insert(start) {
            continue;
        }
        if seen.len() > OBJECTS {
            cells::forget_all();
            return None;
        }
        bytes += shadow::forget(start, size, |word| {
            let Some(value) = words.at(word) else { return };
            if cells::is_tracked(value) {
                next.push(reach(value, 0, UNKNOWN_INNER));
            }
        });
    }
    Some(bytes)
}

/// Returns the functions whose calls cleared records, sorted by `all`, then `bytes`, largest first.
pub(crate) fn unknown() -> Vec<(String, Calls)> {
    let Some(calls) = CALLS.take().and_then(|calls| calls.clone()) else { return Vec::new() };
    let mut list: Vec<_> = calls
        .into_iter()
        .filter(|(_, calls)| calls.bytes > 0 || calls.all > 0)
        .map(|(callee, calls)| match callee {
            0 => ("inline assembly".to_owned(), calls),
            callee => (symbols::linked_name(callee).unwrap_or_default(), calls),
        })
        .collect();
    list.sort_by(|(a, one), (b, other)| (other.all, other.bytes, a).cmp(&(one.all, one.bytes, b)));
    list
}

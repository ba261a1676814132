//! Calls of functions that are not checked. What they can reach by a pointer that they get,
//! they may write: nothing is known of it any more.
//!
//! A function can reach the block, mapping or variable that the pointer is to, and what the
//! pointers that checked code has put there are to. Of memory whose end is not known,
//! [`UNKNOWN`] bytes are taken for what it can reach. Functions that [`is_harmless`] knows
//! are left out, and so are those of this library, which say themselves what they write.

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

/// What a call of an unknown function came to.
#[derive(Clone, Default)]
pub(crate) struct Calls {
    pub(crate) times: u64,
    /// Bytes that something was known of.
    pub(crate) bytes: u64,
    /// How often all memory was forgotten.
    pub(crate) all: u64,
    harmless: bool,
    /// The most bytes that it writes, if it writes only to the objects of its arguments.
    most: Option<u64>,
}

static CALLS: Lock<Option<HashMap<usize, Calls>>> = Lock::new(None);
/// Functions that are harmless, by their hash.
static HARMLESS: [AtomicUsize; 1 << 10] = [const { AtomicUsize::new(0) }; 1 << 10];

/// In bytes, behind a pointer to memory whose end is not known.
const UNKNOWN: usize = 64 << 10;
/// The same behind a pointer that was found in memory.
const UNKNOWN_INNER: usize = 4 << 10;
/// Objects that are followed. Beyond that all memory is forgotten.
const OBJECTS: usize = 512;

/// The known function that is at an address. The C library has some of them at one address by
/// several names, and those that it chooses by processor at addresses without a name.
fn known_at(function: usize) -> Option<&'static str> {
    static KNOWN: OnceLock<HashMap<usize, &'static str>> = OnceLock::new();
    let address = |name: &'static str| {
        let text = CString::new(name).ok()?;
        // SAFETY: the name ends in 0.
        let at = unsafe { libc::dlsym(libc::RTLD_DEFAULT, text.as_ptr()) };
        (!at.is_null()).then_some((at.addr(), name))
    };
    // SAFETY: nothing is asked for. A program that is linked statically has no dynamic linker.
    let has_linker = unsafe { libc::getauxval(libc::AT_BASE) } != 0;
    let known = KNOWN.get_or_init(|| {
        let known = known_names().filter(|_| has_linker).filter_map(address).collect();
        // SAFETY: as it says. The program need not see that a name was not found.
        unsafe { libc::dlerror() };
        known
    });
    known.get(&function).copied()
}

/// Before a call of a function that is not checked, with a pointer to memory of `size`
/// bytes, or, if that is 0, of an unknown number.
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
            || options().harmless.iter().any(|it| glob(it, &name) || glob(it, &source_name(&name)))
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

/// Where inline assembly may access any memory.
pub(crate) fn barrier() {
    cells::forget_all();
    let inside = enter();
    if let Some(mut calls) = CALLS.take().filter(|_| inside.is_some()) {
        let call = calls.get_or_insert_with(HashMap::new).entry(0).or_default();
        call.times += 1;
        call.all += 1;
    }
}

/// Forgets what can be reached by a pointer, and returns how many bytes something was known
/// of; `None` if that is all memory.
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

/// The functions that were called and not known, with what came of it, the most bytes first.
pub(crate) fn unknown() -> Vec<(String, Calls)> {
    let Some(calls) = CALLS.take().and_then(|calls| calls.clone()) else { return Vec::new() };
    let mut list: Vec<_> = calls
        .into_iter()
        .filter(|(_, it)| it.bytes > 0 || it.all > 0)
        .map(|(callee, it)| match callee {
            0 => ("inline assembly".to_owned(), it),
            callee => (symbols::linked_name(callee).unwrap_or_default(), it),
        })
        .collect();
    list.sort_by(|(a, one), (b, other)| (other.all, other.bytes, a).cmp(&(one.all, one.bytes, b)));
    list
}

//! The states of a granule's bytes, each combination of them once.
//!
//! Programs do the same things again and again: few combinations ever occur, and
//! fewer changes from one to another. Each combination has a number, and a change
//! that has been seen is found in a cache, without a lock. Whether a change
//! contradicts the tags is asked when it is seen first, for what is reported is
//! reported once.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::*};

use crate::shadow::GRANULE;
use crate::sites::{self, Order, Site};

/// What happens to bytes: a read or write by a site, or, by none, anything
/// after which nothing is known of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) site: Site,
    pub(crate) reads: bool,
}

/// The site that wrote a byte last, and one that has read it since; 0: none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
struct State {
    writer: Site,
    reader: Site,
}

type Granule = [State; GRANULE];

/// Combinations that are told apart, a power of 2. What goes beyond that is
/// forgotten.
const MAX_BITS: u32 = 21;

/// All combinations by their numbers. The first says that nothing is known.
struct States {
    list: Vec<Granule>,
    numbers: HashMap<Granule, u32>,
}

static STATES: Mutex<Option<States>> = Mutex::new(None);

/// A change that has been seen, and the number that it leads to. The first word
/// is the exclusive or of both: a reader that meets half of a change in here
/// takes it for none.
struct Seen {
    check: AtomicU64,
    number: AtomicU64,
}

const CACHE_BITS: u32 = 15;
static CACHE: [Seen; 1 << CACHE_BITS] =
    [const { Seen { check: AtomicU64::new(0), number: AtomicU64::new(0) } }; 1 << CACHE_BITS];

impl Event {
    pub(crate) const CLEAR: Event = Event { site: 0, reads: false };

    fn on(self, state: State) -> State {
        if !self.reads {
            return State { writer: self.site, reader: 0 };
        }
        // The first reader stays: others with its tag say no more.
        let stays = state.reader != 0 && sites::same_kind(state.reader, self.site);
        if stays { state } else { State { reader: self.site, ..state } }
    }

    /// Reports what the event contradicts, of bytes that have one state.
    fn check(self, state: State, address: usize, bytes: usize) {
        let check = |order, first| {
            if first != 0 {
                sites::check(order, first, self.site, address, bytes);
            }
        };
        if self.reads {
            check(Order::WriteRead, state.writer);
        } else if self.site != 0 {
            check(Order::ReadWrite, state.reader);
            check(Order::WriteWrite, state.writer);
        }
    }
}

/// A change as the cache has it: 21 bits, 30, 8, 1, and one that is always set.
#[inline(always)]
fn key(old: u32, mask: u8, event: Event) -> u64 {
    u64::from(old) << 40
        | u64::from(event.site) << 10
        | u64::from(mask) << 2
        | u64::from(event.reads) << 1
        | 1
}

#[inline(always)]
fn slot(key: u64) -> &'static Seen {
    &CACHE[(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - CACHE_BITS)) as usize]
}

/// Returns the number of the states that a granule has after an event on the
/// bytes that `mask` has, if that is in the cache.
#[inline(always)]
pub(crate) fn seen(old: u32, mask: u8, event: Event) -> Option<u32> {
    let key = key(old, mask, event);
    let seen = slot(key);
    let number = seen.number.load(Relaxed);
    (seen.check.load(Relaxed) ^ number == key).then_some(number as u32)
}

/// The same in any case, for the granule at `address`; reports what the event
/// contradicts.
pub(crate) fn after(old: u32, mask: u8, event: Event, address: usize) -> u32 {
    if let Some(new) = seen(old, mask, event) {
        return new;
    }
    let Some(mut granule) = with(|states| states.list[old as usize]) else { return 0 };
    let has = |at: usize| mask >> at & 1 != 0;
    for at in (0..GRANULE).filter(|at| has(*at)) {
        let state = granule[at];
        let same = |other: &usize| has(*other) && granule[*other] == state;
        if (0..at).all(|before| !same(&before)) {
            event.check(state, address + at, (at..GRANULE).filter(same).count());
        }
    }
    for at in (0..GRANULE).filter(|at| has(*at)) {
        granule[at] = event.on(granule[at]);
    }
    let number = with(|states| states.number(&granule)).flatten();
    // Without a number, all that is known is forgotten.
    let number = number.unwrap_or(0);
    let key = key(old, mask, event);
    let seen = slot(key);
    seen.number.store(number.into(), Relaxed);
    seen.check.store(key ^ u64::from(number), Relaxed);
    number
}

/// `None` where the lock does not become free; see [`sites::lock`].
fn with<R>(act: impl FnOnce(&mut States) -> R) -> Option<R> {
    let mut states = sites::take(&STATES)?;
    Some(act(states.get_or_insert_with(|| {
        let nothing = Granule::default();
        States { list: vec![nothing], numbers: HashMap::from([(nothing, 0)]) }
    })))
}

impl States {
    fn number(&mut self, granule: &Granule) -> Option<u32> {
        if let Some(number) = self.numbers.get(granule) {
            return Some(*number);
        }
        let number = self.list.len() as u32;
        if number >> MAX_BITS != 0 {
            return None;
        }
        self.list.push(*granule);
        self.numbers.insert(*granule, number);
        Some(number)
    }
}

//! The states of a granule's bytes, each combination of them once.
//!
//! Programs do the same things again and again: few combinations ever occur, and
//! fewer changes from one to another. Each combination has a number, and a change
//! that has been seen is found without a lock: among the last of its own site,
//! or else in a cache of all. Whether a change contradicts the tags is asked when
//! it is seen first, for what is reported is reported once.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering::*};

use crate::lock::Lock;
use crate::shadow::GRANULE;
use crate::sites::{self, Order, Site};

/// What happens to bytes: a read or write by a site, or, by none, anything
/// after which nothing is known of them.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Event {
    pub(crate) row: &'static Row,
    pub(crate) site: Site,
    pub(crate) reads: bool,
    /// How many bytes of the access follow the granule or pair at hand, at most.
    pub(crate) more: u16,
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
    /// Sites that were compared: what was there, and what came.
    met: HashSet<(Site, Site)>,
}

static STATES: Lock<Option<States>> = Lock::new(None);

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

/// The last changes by one site. Each is an upper half, the number that it leads
/// to, over what [`change`] returns. Modules have rows, and look at them before
/// they call this library.
pub(crate) type Row = [AtomicU64; 1 << ROW_BITS];

const ROW_BITS: u32 = 4;
static NO_SITE: Row = [const { AtomicU64::new(0) }; 1 << ROW_BITS];

impl Event {
    pub(crate) const CLEAR: Event = Event { row: &NO_SITE, site: 0, reads: false, more: 0 };

    pub(crate) fn followed_by(self, bytes: usize) -> Self {
        Event { more: u16::try_from(bytes).unwrap_or(u16::MAX), ..self }
    }

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
                with(|states| states.met.insert((first, self.site)));
                let all = || bytes + self.overlap(order, first, address + bytes);
                sites::check(order, first, self.site, address, all);
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

impl Event {
    /// How many of the bytes that follow in the access share what `first` did: the report
    /// of the first byte is the only one.
    fn overlap(self, order: Order, first: Site, from: usize) -> usize {
        let is = |state: &State| match order {
            Order::ReadWrite => sites::same_kind(state.reader, first),
            Order::WriteRead | Order::WriteWrite => sites::same_kind(state.writer, first),
        };
        // Of a granule that is read in part, the rest is no part of the access.
        let most = if from.is_multiple_of(GRANULE) { usize::from(self.more) } else { 0 };
        let mut bytes = 0;
        while bytes < most {
            let known = crate::shadow::known(from + bytes);
            let granule = known.and_then(|number| with(|states| states.list[number as usize]));
            let here = granule.map_or(0, |granule| granule.iter().take_while(|it| is(it)).count());
            bytes += here;
            if here < GRANULE {
                break;
            }
        }
        bytes.min(most)
    }
}

/// A change as the cache has it: 21 bits, 26, 8, 1, and one that is always set.
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

fn cached(old: u32, mask: u8, event: Event) -> Option<u32> {
    let key = key(old, mask, event);
    let seen = slot(key);
    let number = seen.number.load(Relaxed);
    (seen.check.load(Relaxed) ^ number == key).then_some(number as u32)
}

/// A change as a site's row has it, from the lowest bit: 21 bits, one that is always set, 1, 8.
#[inline(always)]
fn change(old: u32, mask: u8, event: Event) -> u32 {
    old | (u32::from(mask) << 2 | u32::from(event.reads) << 1 | 1) << MAX_BITS
}

/// The two places in which a site keeps a change; the second is the first of
/// another.
#[inline(always)]
fn places(old: u32, mask: u8, row: &'static Row) -> [&'static AtomicU64; 2] {
    let first = (old + mask.trailing_zeros()) as usize % row.len();
    [&row[first], &row[first ^ 1]]
}

fn remember(old: u32, mask: u8, event: Event, new: u32) {
    let change = change(old, mask, event);
    let [first, second] = places(old, mask, event.row);
    second.store(first.load(Relaxed), Relaxed);
    first.store(u64::from(new) << 32 | u64::from(change), Relaxed);
}

/// Returns the number of the states that a granule has after an event on the
/// bytes that `mask` has, if the site has seen that lately.
#[inline(always)]
pub(crate) fn seen(old: u32, mask: u8, event: Event) -> Option<u32> {
    let change = change(old, mask, event);
    let [first, second] = places(old, mask, event.row);
    let mut both = first.load(Relaxed);
    if both as u32 != change {
        both = second.load(Relaxed);
    }
    (both as u32 == change).then_some((both >> 32) as u32)
}

/// The same in any case; reports what the event contradicts.
pub(crate) fn after(old: u32, mask: u8, event: Event, address: usize) -> u32 {
    if let Some(new) = cached(old, mask, event) {
        remember(old, mask, event, new);
        return new;
    }
    let Some(mut granule) = with(|states| states.list[old as usize]) else { return 0 };
    let has = |at: usize| mask >> at & 1 != 0;
    for at in (0..GRANULE).filter(|at| has(*at)) {
        let state = granule[at];
        let same = |other: &usize| has(*other) && granule[*other] == state;
        if (0..at).all(|before| !same(&before)) {
            event.check(
                state,
                address - address % GRANULE + at,
                (at..GRANULE).filter(same).count(),
            );
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
    remember(old, mask, event, number);
    number
}

/// How many pairs of sites were compared because they touched the same bytes.
pub(crate) fn met() -> usize {
    with(|states| states.met.len()).unwrap_or(0)
}

/// `None` where the lock is not to be had.
fn with<R>(act: impl FnOnce(&mut States) -> R) -> Option<R> {
    let mut states = STATES.take()?;
    Some(act(states.get_or_insert_with(|| {
        let nothing = Granule::default();
        let numbers = HashMap::from([(nothing, 0)]);
        States { list: vec![nothing], numbers, met: HashSet::new() }
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

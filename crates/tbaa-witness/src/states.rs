//! The states of a granule's bytes, each combination of them once.
//!
//! Programs do the same things again and again: few combinations ever occur, and
//! fewer changes from one to another. Each combination has a number, and a change
//! that has been seen is found without a lock: among the last of its own site,
//! or else in a cache of all. Whether a change contradicts the tags is asked when
//! it is seen first, for what is reported is reported once.
//!
//! A number has 14 bits of a *class* and, above these, an index among the combinations of that
//! class. The class says of which kind (tag and size) the writer of each byte is, and nothing of who
//! it is. That decides each read, which changes nothing; and no write contradicts anything.
//!
//! A read by a tag that calls its memory constant is remembered, and the class says that there was one: then each
//! write is looked up.
//!
//! Where a read and a later write are reported as well, readers are remembered, too. Then the class
//! says of which kind the reader of each byte is, and nothing of who wrote: a read by a kind that has
//! read the bytes before changes nothing, and a write contradicts only readers.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};

use hashbrown::{DefaultHashBuilder, HashTable};
use tbaa_instrument::layout::*;

use crate::cells::{self, Entries, GRANULE, WHOLE};
use crate::lock::{Lock, enter};
use crate::report::report;
use crate::sites::{self, Order, PROMISED, Site};

/// What happens to bytes: a read or write by a site, or, by none, anything
/// after which nothing is known of them.
#[derive(Clone, Copy)]
pub(crate) struct Event {
    row: &'static Row,
    pub(crate) site: Site,
    pub(crate) reads: bool,
    /// Set if it matters what a write finds, for it may be warned of.
    looks: bool,
    /// How many bytes the site accesses, in all; 0: known only as it runs.
    pub(crate) size: u32,
    /// The bytes of a granule that its row is for, a power of 2; 0: it has none.
    unit: u8,
    /// How many bytes of the access follow the granule at hand, at most.
    more: u16,
}

/// The site that wrote a byte last, and one that has read it since; 0: none. By default a reader counts only if its
/// tag calls the memory constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
struct State {
    writer: Site,
    reader: Site,
}

type Granule = [State; GRANULE];

impl State {
    /// The kind of the reader, as classes have it: marked where it contradicts the writer, for
    /// then each two sites are a report of their own. `None` where nobody can be asked.
    fn reader_kind(self) -> Option<u32> {
        let (writer, reader) = (sites::kind(self.writer), sites::kind(self.reader));
        let agrees = writer == 0 || reader == 0 || sites::may_alias(writer, reader)?;
        Some(if agrees { reader } else { reader | CONTRADICTS })
    }
}

/// No kind has this bit.
const CONTRADICTS: u32 = 1 << 31;

/// The class of all combinations for which no class is left: it says nothing. One more is the
/// class of no combination.
const OTHER_CLASS: u32 = CLASS - 1;
/// Combinations of a class that are told apart. What goes beyond that is forgotten.
const MAX_INDEX: usize = (1 << (32 - CLASS_BITS)) - 1;

/// The number of sites in a combination.
const WIDTH: usize = 2 * GRANULE;

/// All combinations by their numbers. The first of the first class says that nothing is known.
struct States {
    /// The writers of each combination's bytes, and the readers.
    lists: Vec<Vec<Site>>,
    /// The numbers, hashed by their combinations.
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// By the kinds of writers or readers.
    classes: HashMap<[u32; GRANULE], u32>,
    /// Kinds that were compared: of what was there, and of what came.
    met: HashSet<(u32, u32)>,
}

static STATES: Lock<Option<States>> = Lock::new(None);

/// A change that has been seen, and the number that it leads to. The first word
/// is the exclusive or of both: a reader that meets half of a change in here
/// takes it for none.
#[repr(C)]
pub(crate) struct Seen {
    check: AtomicU64,
    number: AtomicU64,
}

/// The last changes by all sites, by their hash. Modules look at them. They begin with few, so that few
/// pages are touched, and become twice as many whenever as many as there are were new.
#[unsafe(export_name = "__tbaa_witness_changes")]
pub(crate) static CHANGES: [Seen; 1 << CHANGES_BITS] =
    [const { Seen { check: AtomicU64::new(0), number: AtomicU64::new(0) } }; 1 << CHANGES_BITS];

/// How many bits of a hash do not count.
#[unsafe(export_name = "__tbaa_witness_changes_shift")]
pub(crate) static SHIFT: AtomicU64 = AtomicU64::new(64 - 10);

/// Counts a new change, and makes room for more.
fn count() {
    static NEW: AtomicU64 = AtomicU64::new(0);
    let bits = 64 - SHIFT.load(Relaxed);
    if NEW.fetch_add(1, Relaxed) >> bits != 0 && bits < CHANGES_BITS.into() {
        NEW.store(0, Relaxed);
        SHIFT.store(64 - bits - 1, Relaxed);
    }
}

/// What a site did last. Modules look at their rows before they call this library. All that is
/// compared has its bits inverted: an empty row says nothing.
#[repr(C)]
pub(crate) struct Row {
    /// A class of bytes that a read by the site neither changes nor contradicts. Of a write of characters,
    /// the class of a granule of characters: it becomes the site's.
    class: AtomicU32,
    /// The number that a write by the site leaves. A read of less than a granule that changed
    /// nothing leaves the class that it met, with the place in the granule.
    number: AtomicU32,
    /// The number that a write of whole granules leaves, not inverted; 0: that depends on what is there.
    always: AtomicU32,
    /// The number of the site's entries.
    entries: AtomicU32,
}

/// Which entry is for a value, in accesses that begin at a byte of a granule.
fn place(value: u32, part: u32) -> usize {
    value.wrapping_add(part << 1) as usize % ENTRIES
}

impl Row {
    /// From now on a write looks at what is there.
    pub(crate) fn look(&self) {
        self.always.store(0, Release);
    }

    /// The site's entries, which it gets when it needs them first.
    fn entries(&self) -> Option<&'static Entries> {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let mut number = self.entries.load(Acquire);
        if number == 0 {
            let next = |last: u32| (last < MAX_SITES).then_some(last + 1);
            let own = LAST.fetch_update(Relaxed, Relaxed, next).ok()? + 1;
            // Those that another thread was quicker to get stay.
            number = self
                .entries
                .compare_exchange(0, own, AcqRel, Acquire)
                .map_or_else(|it| it, |_| own);
        }
        Some(cells::entries(number))
    }
}

// Checks have these places as numbers.
const _: () = assert!(
    size_of::<Row>() == ROW * size_of::<u64>()
        && std::mem::offset_of!(Row, class) == 0
        && std::mem::offset_of!(Row, number) == 4
        && std::mem::offset_of!(Row, always) == 8
        && std::mem::offset_of!(Row, entries) == 12
);

static NO_ROW: Row = Row {
    class: AtomicU32::new(0),
    number: AtomicU32::new(0),
    always: AtomicU32::new(0),
    entries: AtomicU32::new(0),
};

impl Event {
    pub(crate) const CLEAR: Event =
        Event { row: &NO_ROW, site: 0, reads: false, looks: false, size: 0, unit: 0, more: 0 };

    pub(crate) fn new(site: Site, reads: bool, size: u32, row: &'static Row, looks: bool) -> Self {
        if site == 0 {
            // What nobody did is no part of a site's row.
            return Event { reads, size, ..Event::CLEAR };
        }
        let unit = if matches!(size, 1 | 2) { size as u8 } else { 4 };
        Event { row, site, reads, looks, size, unit, more: 0 }
    }

    pub(crate) fn followed_by(self, bytes: usize) -> Self {
        Event { more: u16::try_from(bytes).unwrap_or(u16::MAX), ..self }
    }

    fn on(self, state: State) -> State {
        if !self.reads {
            return State { writer: self.site, reader: 0 };
        }
        // The first reader stays: others with its tag say no more.
        let stays = sites::is_constant(state.reader)
            || !sites::is_constant(self.site)
                && (!sites::remembers_readers()
                    || state.reader != 0 && sites::same_kind(state.reader, self.site));
        if stays { state } else { State { reader: self.site, ..state } }
    }

    /// Reports what the event contradicts, of bytes that have one state. Returns whether it
    /// contradicts nothing; `None` where nobody can be asked.
    fn check(self, state: State, address: usize, bytes: usize) -> Option<bool> {
        let check = |order, first| {
            if first == 0 {
                return Some(true);
            }
            let kinds = (sites::kind(first), sites::kind(self.site));
            with(|states| states.met.insert(kinds));
            let all = || bytes + self.overlap(order, first, address + bytes);
            judge(order, first, self.site, address, all)
        };
        match (self.reads, self.site) {
            (true, _) => check(Order::WriteRead, state.writer),
            (false, 0) => Some(true),
            (false, _) => {
                let is_constant = sites::is_constant(state.reader);
                let order = if is_constant { Order::Constant } else { Order::ReadWrite };
                let agrees = check(order, state.reader);
                Some(check(Order::WriteWrite, state.writer)? && agrees?)
            }
        }
    }

    /// What the site keeps of a change: of a read that holds for all of its class, or of a write of less
    /// than a granule. Such accesses have entries of their own for each part of the granule.
    fn remember(self, old: u32, mask: u8, new: u32) {
        let (class, index) = (!old & CLASS, !old >> CLASS_BITS);
        let (key, by) = if self.reads { (class, class) } else { (!old, index) };
        let has_entries = match self.unit {
            4 => mask == WHOLE && self.reads,
            2 => matches!(mask, 0b0011 | 0b1100),
            unit => unit == 1 && mask.is_power_of_two(),
        };
        if !has_entries {
            return;
        }
        let entry = u64::from(new) << 32 | u64::from(key);
        let is_new = self.row.entries.load(Relaxed) == 0;
        let Some(entries) = self.row.entries() else { return };
        let first = self.row.class.load(Relaxed);
        if is_new && self.reads && first != 0 {
            // The class that the site has met before becomes one of several.
            (0..GRANULE as u32).step_by(self.unit.into()).for_each(|part| {
                entries[place(first, part)].store(first.into(), Relaxed);
            });
        }
        entries[place(by, mask.trailing_zeros())].store(entry, Relaxed);
        if self.reads && mask != WHOLE {
            self.row.number.store(class | mask.trailing_zeros() << CLASS_BITS, Relaxed);
        }
    }

    /// Tells the site's module what to look at first.
    #[cold]
    fn introduce(self) {
        let readers = sites::remembers_readers();
        if self.reads && (!readers || sites::is_constant(self.site)) {
            return;
        }
        let own = [sites::kind(self.site); GRANULE];
        let written = [State { writer: self.site, reader: 0 }; GRANULE];
        let kinds = if readers { [0; GRANULE] } else { own };
        let known = with(|states| (states.class(own), states.number(&written, kinds)));
        let Some((class, Some(number))) = known else { return };
        if self.reads && class != OTHER_CLASS {
            self.row.class.store(!class & CLASS, Release);
        } else if !self.reads {
            // Where reads or writes before it are judged, what it writes over matters.
            let matters = readers || self.looks || sites::judges_stores() || sites::has_constants();
            self.row.always.store(if matters { 0 } else { number }, Release);
            self.row.number.store(!number, Release);
            if !matters && sites::is_of_characters(self.site) {
                self.row.class.store(!class & CLASS, Release);
            }
        }
    }
}

impl Event {
    /// How many of the bytes that follow in the access share what `first` did: the report
    /// of the first byte is the only one.
    fn overlap(self, order: Order, first: Site, from: usize) -> usize {
        let is = |state: &State| match order {
            Order::ReadWrite | Order::Constant => sites::same_kind(state.reader, first),
            Order::WriteRead | Order::WriteWrite => sites::same_kind(state.writer, first),
        };
        // Of a granule that is read in part, the rest is no part of the access.
        let most = if from.is_multiple_of(GRANULE) { usize::from(self.more) } else { 0 };
        let mut bytes = 0;
        while bytes < most {
            let known = cells::known(from + bytes);
            let granule = known.and_then(|number| with(|states| states.granule(number)));
            let here = granule.map_or(0, |granule| granule.iter().take_while(|it| is(it)).count());
            bytes += here;
            if here < GRANULE {
                break;
            }
        }
        bytes.min(most)
    }
}

/// Reports two accesses that share bytes if the rule says that they cannot. Returns whether
/// it says that they can, or it does not matter; `None` where nobody can be asked.
#[inline]
fn judge(
    order: Order,
    first: Site,
    second: Site,
    address: usize,
    bytes: impl FnOnce() -> usize,
) -> Option<bool> {
    let (a, b) = (sites::kind(first), sites::kind(second));
    let agrees = match order {
        Order::Constant => false,
        _ => sites::may_alias(a, b)?,
    };
    if !agrees {
        report(order, first, second, address, bytes());
    }
    Some(agrees)
}

/// A change: the number that was there, a site, the bytes of the granule, and a bit that is
/// always set.
#[inline(always)]
pub(crate) fn change(old: u32, mask: u8, site: Site) -> u64 {
    u64::from(old) << 32 | u64::from(site) << SITE_SHIFT | u64::from(mask) << MASK_SHIFT | 1
}

/// The site of a change, or `None` of what is no change.
#[inline(always)]
pub(crate) fn site(change: u64) -> Option<Site> {
    (change & 1 != 0).then_some(change as u32 >> SITE_SHIFT)
}

#[inline(always)]
fn slot(change: u64) -> &'static Seen {
    &CHANGES[(change.wrapping_mul(MIX) >> SHIFT.load(Relaxed)) as usize]
}

/// Returns the number of the states that a granule has after an event on the
/// bytes that `mask` has, if that has been seen lately.
#[inline(always)]
pub(crate) fn seen(old: u32, mask: u8, event: Event) -> Option<u32> {
    let class = !old & CLASS;
    if event.reads && class == event.row.class.load(Relaxed) {
        return Some(old);
    }
    let change = change(old, mask, event.site);
    let slot = slot(change);
    let number = slot.number.load(Relaxed);
    (slot.check.load(Relaxed) ^ number == change).then_some(number as u32)
}

/// The same in any case; reports what the event contradicts.
#[cold]
pub(crate) fn after(old: u32, mask: u8, event: Event, address: usize) -> u32 {
    let Some(_inside) = enter() else { return 0 };
    let first = if event.reads { &event.row.class } else { &event.row.number };
    if event.site != 0 && first.load(Relaxed) == 0 {
        event.introduce();
    }
    let Some(mut granule) = with(|states| states.granule(old)) else { return 0 };
    let has = |at: usize| mask >> at & 1 != 0;
    let mut agrees = Some(true);
    for at in (0..GRANULE).filter(|at| has(*at)) {
        let state = granule[at];
        let same = |other: &usize| has(*other) && granule[*other] == state;
        if mask != WHOLE && sites::is_of_characters(state.writer) {
            continue;
        }
        if (0..at).all(|before| !same(&before)) {
            let bytes = (at..GRANULE).filter(same).count();
            let here = event.check(state, address - address % GRANULE + at, bytes);
            agrees = agrees.and_then(|agrees| Some(agrees && here?));
        }
    }
    let readers = sites::remembers_readers();
    let before = granule;
    for at in (0..GRANULE).filter(|at| has(*at)) {
        granule[at] = event.on(granule[at]);
    }
    if !event.reads && !readers && !sites::judges_stores() {
        together(&before, &mut granule, event.site);
    }
    let kinds = granule.map(|state| match readers {
        true => state.reader_kind(),
        false if state.reader != 0 => Some(sites::kind(state.writer) | PROMISED),
        false => Some(sites::kind(state.writer)),
    });
    let (Some(agrees), [Some(a), Some(b), Some(c), Some(d)]) = (agrees, kinds) else { return 0 };
    let kinds = [a, b, c, d];
    // Without a lock all that is known is forgotten, and that is not remembered.
    let Some(new) = with(|states| states.number(&granule, kinds)) else { return 0 };
    let new = new.unwrap_or_else(|| {
        FORGOTTEN.fetch_add(1, Relaxed);
        0
    });
    let change = change(old, mask, event.site);
    let slot = slot(change);
    slot.number.store(new.into(), Relaxed);
    slot.check.store(change ^ u64::from(new), Relaxed);
    count();
    // Whether the same holds for all of a read's class.
    let alike = new == old
        && old & CLASS != OTHER_CLASS
        && match readers {
            true => new != 0 && kinds.iter().all(|kind| kind & CONTRADICTS == 0),
            false => agrees,
        };
    // And for all bytes of the granule.
    let agrees_with = |kind: &u32| {
        let kind = kind & !PROMISED;
        kind == 0 || sites::may_alias(kind, sites::kind(event.site)) == Some(true)
    };
    let of_class = alike && event.reads && !readers && kinds.iter().all(agrees_with);
    // A read that has met one class needs no entries.
    let is_first = of_class && event.row.class.load(Relaxed) == 0;
    if (alike || !event.reads) && !(is_first && event.row.entries.load(Relaxed) == 0) {
        event.remember(old, mask, new);
    }
    if of_class {
        event.row.class.store(!old & CLASS, Release);
    }
    new
}

/// Makes a granule one of characters if it has nothing else, or else one without characters: what contradicts
/// a character is a pointer, which has all of the granule. So there are few states of text, not
/// one for each four sites that wrote a byte.
fn together(before: &Granule, granule: &mut Granule, site: Site) {
    let of_characters = |state: &State| sites::is_of_characters(state.writer);
    let is_text = |state: &State| state.reader == 0 && (state.writer == 0 || of_characters(state));
    if sites::is_of_characters(site) && before.iter().all(is_text) {
        *granule = [State { writer: site, reader: 0 }; GRANULE];
    } else if !granule.iter().all(of_characters) {
        for state in granule.iter_mut().filter(|state| of_characters(state)) {
            *state = State::default();
        }
    }
}

/// Changes that were forgotten, for a class had no number left.
static FORGOTTEN: AtomicU64 = AtomicU64::new(0);

/// How many changes were forgotten for want of a number.
pub(crate) fn forgotten() -> u64 {
    FORGOTTEN.load(Relaxed)
}

/// How many pairs of kinds were compared because they touched the same bytes.
pub(crate) fn met() -> usize {
    with(|states| states.met.len()).unwrap_or(0)
}

/// `None` where the lock is not to be had.
fn with<R>(act: impl FnOnce(&mut States) -> R) -> Option<R> {
    let mut states = STATES.take()?;
    Some(act(states.get_or_insert_with(|| {
        let nothing = Granule::default();
        let mut states = States {
            lists: Vec::new(),
            numbers: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            classes: HashMap::new(),
            met: HashSet::new(),
        };
        states.number(&nothing, [0; GRANULE]);
        states
    })))
}

impl States {
    fn granule(&self, number: u32) -> Granule {
        Self::of(&self.lists, number)
    }

    fn of(lists: &[Vec<Site>], number: u32) -> Granule {
        let list = lists.get((number & CLASS) as usize).map_or(&[][..], Vec::as_slice);
        // The program may have written to a cell, if only by accident.
        let sites = list.chunks_exact(WIDTH).nth((number >> CLASS_BITS) as usize);
        let site = |at: usize| sites.and_then(|sites| sites.get(at)).copied().unwrap_or(0);
        std::array::from_fn(|at| State { writer: site(at), reader: site(at + GRANULE) })
    }

    /// The class of bytes whose readers are of these kinds.
    fn class(&mut self, kinds: [u32; GRANULE]) -> u32 {
        let next = self.classes.len() as u32;
        if next < OTHER_CLASS {
            *self.classes.entry(kinds).or_insert(next)
        } else {
            self.classes.get(&kinds).copied().unwrap_or(OTHER_CLASS)
        }
    }

    /// The number of states whose readers are of these kinds.
    fn number(&mut self, granule: &Granule, kinds: [u32; GRANULE]) -> Option<u32> {
        let hash = self.hasher.hash_one(granule);
        if let Some(number) = self.numbers.find(hash, |&it| self.granule(it) == *granule) {
            return Some(*number);
        }
        let class = self.class(kinds);
        while self.lists.len() <= class as usize {
            self.lists.push(Vec::new());
        }
        let list = &mut self.lists[class as usize];
        let index = list.len() / WIDTH;
        if index >= MAX_INDEX {
            return None;
        }
        let number = (index as u32) << CLASS_BITS | class;
        list.extend(granule.map(|it| it.writer).into_iter().chain(granule.map(|it| it.reader)));
        let again = |&it: &u32| self.hasher.hash_one(Self::of(&self.lists, it));
        self.numbers.insert_unique(hash, number, again);
        Some(number)
    }
}

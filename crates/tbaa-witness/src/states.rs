//! Numbers the states of a granule's bytes: each combination of states has one number.
//!
//! A *granule* is 4 bytes of the program. A *site* is an access instruction, and its *kind* a
//! number for its tag and size. A byte's *state* is the site that wrote it last, and a site that
//! has read it since.
//!
//! A *change* is a number, a site and the bytes that the site accesses. Its result is a new number.
//! Few combinations and changes occur. Earlier changes are cached for each site and in a table for
//! all sites. The caches are read without a lock. A new change is checked by the alias rule.
//!
//! The low 14 bits of a number are its *class*, the rest an index in the class. The class gives the
//! kind of each byte's writer, but not the site. This is enough to check a read, which changes no
//! state unless its tag says that memory is constant. A write is checked only with `reuse=1` or
//! `report_stores=1`, if a warning is possible, or if any tag says that memory is constant.
//!
//! With `reuse=1` (a write over bytes that were read is checked) readers are recorded too. Then the
//! class gives the kind of each byte's reader instead. A read changes nothing if all these kinds
//! are its own.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};

use hashbrown::{DefaultHashBuilder, HashTable};
use tbaa_instrument::layout::*;

use crate::cells::{self, Entries, GRANULE, WHOLE};
use crate::lock::{Lock, enter};
use crate::report::report;
use crate::sites::{self, Order, PROMISED, Site};

/// A read or write of bytes by a site. Without a site it clears the states of the bytes.
#[derive(Clone, Copy)]
pub(crate) struct Event {
    row: &'static Row,
    pub(crate) site: Site,
    pub(crate) reads: bool,
    /// True if a write must be checked against the previous state, because a warning is possible.
    looks: bool,
    /// The number of bytes that the site accesses; 0 if known only at run time.
    pub(crate) size: u32,
    /// The number of bytes of a granule that one entry of the site's cache stands for, a power of
    /// 2; 0 without a cache.
    unit: u8,
    /// The number of bytes of the access that follow this granule, at most `u16::MAX`.
    more: u16,
}

/// The site that last wrote a byte, and a site that has read it since; 0 for none. By default a
/// reader is recorded only if its tag says that the memory is constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
struct State {
    writer: Site,
    reader: Site,
}

type Granule = [State; GRANULE];

impl State {
    /// Returns the reader's kind for use in a class. The flag [`CONTRADICTS`] is set if the reader
    /// contradicts the writer. Returns `None` if a lock is not available.
    fn reader_kind(self) -> Option<u32> {
        let (writer, reader) = (sites::kind(self.writer), sites::kind(self.reader));
        let agrees = writer == 0 || reader == 0 || sites::may_alias(writer, reader)?;
        Some(if agrees { reader } else { reader | CONTRADICTS })
    }
}

/// The flag in a reader's kind if the reader contradicts the writer. Kinds do not use this bit.
const CONTRADICTS: u32 = 1 << 31;

/// Combinations with new kinds get this class once every other class is in use. It gives no kinds.
/// No combination has class `OTHER_CLASS + 1`, because its inverse is 0, as in an empty cache.
const OTHER_CLASS: u32 = CLASS - 1;
/// The largest number of combinations in a class. Changes to further ones are not recorded.
const MAX_INDEX: usize = (1 << (32 - CLASS_BITS)) - 1;

/// The number of sites in a combination: a writer and a reader for each byte.
const WIDTH: usize = 2 * GRANULE;

/// All combinations. Number 0 (index 0 of class 0) means that nothing is recorded for the granule.
#[derive(Default)]
struct States {
    /// The combinations of each class, one after another. Each lists the writers of the bytes, then
    /// the readers.
    lists: Vec<Vec<Site>>,
    /// The number of each combination, hashed by the combination.
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// The class for each combination of writers' kinds, or of readers' kinds.
    classes: HashMap<[u32; GRANULE], u32>,
    /// The pairs of kinds that were compared, the earlier access first.
    met: HashSet<(u32, u32)>,
}

static STATES: Lock<Option<States>> = Lock::new(None);

/// A cached change and the number that results. `check` is the exclusive or of both, so an entry of
/// which another thread has written only one half does not match.
#[repr(C)]
pub(crate) struct Seen {
    check: AtomicU64,
    number: AtomicU64,
}

/// A hash table of the last changes of all sites. Instrumented modules read it. At first only a
/// small part is used, so that few pages are touched. That part doubles after as many new changes
/// as it has entries.
#[unsafe(export_name = "__tbaa_witness_changes")]
pub(crate) static CHANGES: [Seen; 1 << CHANGES_BITS] =
    [const { Seen { check: AtomicU64::new(0), number: AtomicU64::new(0) } }; 1 << CHANGES_BITS];

/// The number of hash bits to shift out: 64 minus the bits of an index into the part in use.
#[unsafe(export_name = "__tbaa_witness_changes_shift")]
pub(crate) static SHIFT: AtomicU64 = AtomicU64::new(64 - 10);

/// Counts a new change. May double the used part of [`CHANGES`].
fn count() {
    static NEW: AtomicU64 = AtomicU64::new(0);
    let bits = 64 - SHIFT.load(Relaxed);
    if NEW.fetch_add(1, Relaxed) >> bits != 0 && bits < CHANGES_BITS.into() {
        NEW.store(0, Relaxed);
        SHIFT.store(64 - bits - 1, Relaxed);
    }
}

/// A site's cache. Instrumented modules look here before they call this library. Values that are
/// compared are stored inverted, so that an empty cache matches nothing.
#[repr(C)]
pub(crate) struct Row {
    /// For a read, a class that the read neither changes nor contradicts. For a write of
    /// characters, the class in which the writers of all bytes have the site's kind: the result is
    /// then [`number`](Self::number).
    class: AtomicU32,
    /// For a write, the number of a granule if the site wrote all its bytes. For a read of part of
    /// a granule, the class that was last cached in the entries, and the position in the granule.
    number: AtomicU32,
    /// The number that results from a write of whole granules, not inverted. 0 if the result
    /// depends on the previous state.
    always: AtomicU32,
    /// The index of the site's [entries](Entries), 0 if it has none.
    entries: AtomicU32,
}

/// Returns the index of the entry for a value and a position in a granule.
fn place(value: u32, part: u32) -> usize {
    value.wrapping_add(part << 1) as usize % ENTRIES
}

impl Row {
    /// Makes all later writes of the site check the previous state.
    pub(crate) fn look(&self) {
        self.always.store(0, Release);
    }

    /// Returns the site's entries, which are allocated on first use.
    fn entries(&self) -> Option<&'static Entries> {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let mut number = self.entries.load(Acquire);
        if number == 0 {
            let next = |last: u32| (last < MAX_SITES).then_some(last + 1);
            let own = LAST.fetch_update(Relaxed, Relaxed, next).ok()? + 1;
            // Another thread may have allocated the entries first. Then its index is used.
            number = self
                .entries
                .compare_exchange(0, own, AcqRel, Acquire)
                .map_or_else(|other| other, |_| own);
        }
        Some(cells::entries(number))
    }
}

// Instrumented modules contain these offsets as numbers.
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
            // An event without a site has no cache.
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
        // A recorded reader of constant memory stays. Any other is replaced by a reader of constant
        // memory or, with `reuse=1`, by a reader with another tag or size.
        let stays = sites::is_constant(state.reader)
            || !sites::is_constant(self.site)
                && (!sites::remembers_readers()
                    || state.reader != 0 && sites::same_kind(state.reader, self.site));
        if stays { state } else { State { reader: self.site, ..state } }
    }

    /// Reports the contradictions between this access and the accesses in `state`, the state of
    /// `bytes` bytes. Returns whether there are none; `None` if a lock is not available.
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

    /// Caches a change in the site's entries: a read that leaves a whole class unchanged, or a
    /// write of part of a granule. Accesses to part of a granule use one entry for each position.
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
            // The class in `Row::class` gets entries too.
            (0..GRANULE as u32).step_by(self.unit.into()).for_each(|part| {
                entries[place(first, part)].store(first.into(), Relaxed);
            });
        }
        entries[place(by, mask.trailing_zeros())].store(entry, Relaxed);
        if self.reads && mask != WHOLE {
            self.row.number.store(class | mask.trailing_zeros() << CLASS_BITS, Relaxed);
        }
    }

    /// Fills the part of the site's cache that does not depend on earlier accesses.
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
            // If writes are checked, their results depend on the previous state.
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
    /// Returns how many consecutive bytes of this access, from `from` on, have an earlier access
    /// with the tag and size of `first`, so that one report is enough for all.
    fn overlap(self, order: Order, first: Site, from: usize) -> usize {
        let is = |state: &State| match order {
            Order::ReadWrite | Order::Constant => sites::same_kind(state.reader, first),
            Order::WriteRead | Order::WriteWrite => sites::same_kind(state.writer, first),
        };
        // If `from` is inside a granule, the access or the run of equal states ends there.
        let most = if from.is_multiple_of(GRANULE) { usize::from(self.more) } else { 0 };
        let mut bytes = 0;
        while bytes < most {
            let known = cells::known(from + bytes);
            let granule = known.and_then(|number| with(|states| states.granule(number)));
            let here =
                granule.map_or(0, |states| states.iter().take_while(|state| is(state)).count());
            bytes += here;
            if here < GRANULE {
                break;
            }
        }
        bytes.min(most)
    }
}

/// Reports two accesses to the same bytes if the alias rule says that they do not alias, or if the
/// first reads constant memory. Returns false in these cases; `None` if a lock is not available.
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

/// Returns a change as one word: the old number, the site, the mask of bytes, and a low bit that is
/// always set.
#[inline(always)]
pub(crate) fn change(old: u32, mask: u8, site: Site) -> u64 {
    u64::from(old) << 32 | u64::from(site) << SITE_SHIFT | u64::from(mask) << MASK_SHIFT | 1
}

/// Returns the site of a change; `None` if the word is no change.
#[inline(always)]
pub(crate) fn site(change: u64) -> Option<Site> {
    (change & 1 != 0).then_some(change as u32 >> SITE_SHIFT)
}

#[inline(always)]
fn slot(change: u64) -> &'static Seen {
    &CHANGES[(change.wrapping_mul(MIX) >> SHIFT.load(Relaxed)) as usize]
}

/// Returns a granule's number after an access to the bytes in `mask`, if the change is cached.
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

/// Returns a granule's number after an access, without the caches. Reports contradictions, and
/// fills the caches.
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
    // Without the lock the granule's states are cleared, and the change is not cached.
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
    // For a read: true if it leaves each combination of the old number's class as it is.
    let alike = new == old
        && old & CLASS != OTHER_CLASS
        && match readers {
            true => new != 0 && kinds.iter().all(|kind| kind & CONTRADICTS == 0),
            false => agrees,
        };
    // The site may skip all granules of a class only if it agrees with all their bytes, not only
    // with those that it reads.
    let agrees_with = |kind: &u32| {
        let kind = kind & !PROMISED;
        kind == 0 || sites::may_alias(kind, sites::kind(event.site)) == Some(true)
    };
    let of_class = alike && event.reads && !readers && kinds.iter().all(agrees_with);
    // A site that has read granules of only one class needs no entries.
    let is_first = of_class && event.row.class.load(Relaxed) == 0;
    if (alike || !event.reads) && !(is_first && event.row.entries.load(Relaxed) == 0) {
        event.remember(old, mask, new);
    }
    if of_class {
        event.row.class.store(!old & CLASS, Release);
    }
    new
}

/// If `site` writes characters, and the granule had no readers and only writers of characters,
/// makes `site` the writer of all bytes. Otherwise, if a byte has no writer of characters, removes
/// such writers from the other bytes. This loses no report: of clang's types, only vtable pointers
/// contradict characters, and they fill whole granules.
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

/// The number of changes that were not recorded because a class was full.
static FORGOTTEN: AtomicU64 = AtomicU64::new(0);

pub(crate) fn forgotten() -> u64 {
    FORGOTTEN.load(Relaxed)
}

/// Returns how many pairs of kinds were compared because their sites accessed the same bytes.
pub(crate) fn met() -> usize {
    with(|states| states.met.len()).unwrap_or(0)
}

/// Calls `act` with all combinations. Returns `None` if the lock is not available.
fn with<R>(act: impl FnOnce(&mut States) -> R) -> Option<R> {
    let mut states = STATES.take()?;
    Some(act(states.get_or_insert_with(|| {
        let mut states = States::default();
        states.number(&Granule::default(), [0; GRANULE]);
        states
    })))
}

impl States {
    fn granule(&self, number: u32) -> Granule {
        Self::of(&self.lists, number)
    }

    fn of(lists: &[Vec<Site>], number: u32) -> Granule {
        let list = lists.get((number & CLASS) as usize).map_or(&[][..], Vec::as_slice);
        // The program may have overwritten a cell by mistake, so the number may be invalid.
        let sites = list.chunks_exact(WIDTH).nth((number >> CLASS_BITS) as usize);
        let site = |at: usize| sites.and_then(|sites| sites.get(at)).copied().unwrap_or(0);
        std::array::from_fn(|at| State { writer: site(at), reader: site(at + GRANULE) })
    }

    /// Returns the class for these kinds: a new one if necessary, [`OTHER_CLASS`] if none is free.
    fn class(&mut self, kinds: [u32; GRANULE]) -> u32 {
        let next = self.classes.len() as u32;
        if next < OTHER_CLASS {
            *self.classes.entry(kinds).or_insert(next)
        } else {
            self.classes.get(&kinds).copied().unwrap_or(OTHER_CLASS)
        }
    }

    /// Returns the number of a combination. If it is new, adds it to the class for `kinds`. Returns
    /// `None` if the class is full.
    fn number(&mut self, granule: &Granule, kinds: [u32; GRANULE]) -> Option<u32> {
        let hash = self.hasher.hash_one(granule);
        if let Some(number) = self.numbers.find(hash, |&number| self.granule(number) == *granule) {
            return Some(*number);
        }
        let class = self.class(kinds);
        let lists = self.lists.len().max(class as usize + 1);
        self.lists.resize_with(lists, Vec::new);
        let list = &mut self.lists[class as usize];
        let index = list.len() / WIDTH;
        if index >= MAX_INDEX {
            return None;
        }
        let number = (index as u32) << CLASS_BITS | class;
        list.extend(granule.map(|state| state.writer));
        list.extend(granule.map(|state| state.reader));
        let again = |&number: &u32| self.hasher.hash_one(Self::of(&self.lists, number));
        self.numbers.insert_unique(hash, number, again);
        Some(number)
    }
}

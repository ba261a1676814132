//! The tables that queries read: an interval of 8 bytes for each tag, and a
//! record where intervals meet.
//!
//! A *cursor* is a place on a tag's walk: a type and an offset into it, and
//! then, from the scalar that is accessed, the scalar's parents. Each rule says
//! which cursor comes next; each has one successor, so cursors form a
//! [`Forest`]. Two *regular* tags of one root may alias iff one's cursor lies
//! on the other's walk, which is one comparison of intervals. What makes a tag
//! regular is the rule's to say, and so is what comes of the others, which are
//! marked [`WIDE`] or [`ASK`]; their intervals meet all.

use std::hash::BuildHasher;

use hashbrown::HashTable;

use super::filter::{Filter, Passers};
use super::forest::{Forest, Span};
use crate::table::{DefaultHashBuilder, HashMap, HashSet};

/// What is known of a tag beside its interval.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// The number of the root above the access type, what the base type passes in
    /// a [`Filter`], and flags.
    root: u32,
    /// A regular tag's cursor, a wide tag's place in [`Compiled::wide`], or
    /// [`NONE`].
    cursor: u32,
}

/// The interval of a tag that is not regular.
const ALL: Span = Span { start: 0, end: u32::MAX };

impl Record {
    fn place(self) -> usize {
        (self.root >> PLACE) as usize % Filter::PLACES
    }
}

/// The bits of [`Record::root`] that name the root; all are set for a tag that
/// may alias all others.
const ROOT: u32 = (1 << PLACE) - 1;
/// The number of all roots for which there is none left.
const MANY: u32 = ROOT - 1;
/// The first bit of [`Record::place`].
const PLACE: u32 = 21;
/// The tag's cursor is loose.
const LOOSE: u32 = 1 << 29;
/// The tag is not regular; the rule's further tables decide.
const WIDE: u32 = 1 << 30;
/// The tag is neither; the rule's definition decides.
const ASK: u32 = 1 << 31;

/// No cursor.
pub(super) const NONE: u32 = u32::MAX;

/// Marks the type of a cursor that only tags of the same further way share.
const ROUTED: u32 = 1 << 31;

/// What is to be known of a tag to answer many pairs at once.
pub(super) enum Place {
    /// A regular tag: its root, its cursor's interval, that of no other cursor,
    /// and what its base type passes in a [`Filter`].
    Regular(u32, Span, usize),
    /// It may alias all others.
    Rejected,
    /// Another tag, with its root.
    Other(u32),
}

/// An offset that 32 bits do not hold.
const FAR: u32 = u32::MAX;

/// What the tables of all rules have of a wide tag.
#[derive(Clone, Debug)]
struct Wide {
    cursor: u32,
    /// The base types of tags that it may alias,
    filter: Filter,
    /// and the type whose [`Passers`] it may alias beside.
    minds: u32,
}

impl Default for Wide {
    /// Of a tag that is not wide.
    fn default() -> Self {
        Wide { cursor: NONE, filter: Filter::default(), minds: Passers::NOBODY }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Compiled {
    pub(super) forest: Forest,
    /// Type of each cursor, and whether it is [`ROUTED`].
    types: Vec<u32>,
    /// Offset of each cursor,
    offsets: Vec<u32>,
    /// and those of [`FAR`] and more.
    far: HashMap<u32, u64>,
    /// The cursors, hashed by type, offset and route.
    known: HashTable<u32>,
    hasher: DefaultHashBuilder,
    spans: Vec<Span>,
    records: Vec<Record>,
    /// Numbers of the roots of tags, and whether there are several.
    roots: HashMap<u32, u32>,
    mixed: bool,
    /// Roots, by number, under which the definition decides; and whether there
    /// may be tags that do not say so yet.
    asked: HashSet<u32>,
    asks: bool,
    /// Wide tags, after one that stands for all others.
    wide: Vec<Wide>,
    passers: Passers,
    /// Tags whose spans are set.
    settled: usize,
}

impl Default for Compiled {
    fn default() -> Self {
        Compiled {
            forest: Forest::default(),
            types: Vec::new(),
            offsets: Vec::new(),
            far: HashMap::default(),
            known: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            spans: Vec::new(),
            records: Vec::new(),
            roots: HashMap::default(),
            mixed: false,
            asked: HashSet::default(),
            asks: false,
            wide: vec![Wide::default()],
            passers: Passers::default(),
            settled: 0,
        }
    }
}

impl Compiled {
    /// Number of tags that have a record.
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns the cursor of a regular or wide tag.
    pub(super) fn cursor(&self, tag: usize) -> u32 {
        self.cursor_of(self.records[tag])
    }

    fn cursor_of(&self, record: Record) -> u32 {
        if record.root & WIDE == 0 {
            record.cursor
        } else {
            self.wide[record.cursor as usize].cursor
        }
    }

    /// Returns the base type of a regular or wide tag.
    pub(super) fn base(&self, tag: usize) -> u32 {
        self.ty(self.cursor(tag))
    }

    /// Returns whether two tags may alias; `None` where the rule's further
    /// tables are to be asked, or the definition.
    #[inline]
    pub(super) fn decide(&self, a: u32, b: u32) -> Option<bool> {
        let (Some(x), Some(y)) = (self.spans.get(a as usize), self.spans.get(b as usize)) else {
            return Some(true);
        };
        // Of random pairs nearly all are apart, and which of the two intervals
        // lies first is anybody's guess: one branch, on both comparisons.
        let meet = (x.start < y.end) & (y.start < x.end);
        if !meet && !self.mixed {
            return Some(false);
        }
        self.look_up(a as usize, b as usize, meet)
    }

    #[inline]
    fn look_up(&self, a: usize, b: usize, meet: bool) -> Option<bool> {
        let (Some(x), Some(y)) = (self.records.get(a), self.records.get(b)) else {
            return Some(true);
        };
        if (x.root ^ y.root) & ROOT != 0 {
            return Some(true);
        }
        if (x.root | y.root) & (WIDE | ASK) != 0 {
            return self.beyond(x, y);
        }
        if meet && x.root & y.root & LOOSE != 0 {
            return Some(self.climb(x, y));
        }
        Some(meet)
    }

    /// Whether two loose cursors of one number are on one walk.
    #[inline(never)]
    fn climb(&self, x: &Record, y: &Record) -> bool {
        self.forest.related(x.cursor, y.cursor)
    }

    /// The same where not both are regular.
    #[inline(never)]
    fn beyond(&self, x: &Record, y: &Record) -> Option<bool> {
        if (x.root | y.root) & ASK != 0 {
            return None;
        }
        let passes = |x: &Record, y: &Record| {
            // Which of the two is wide is anybody's guess, too: no branch on it.
            let at = if x.root & WIDE != 0 { x.cursor } else { 0 };
            let wide = &self.wide[at as usize];
            wide.filter.has(y.place()) | self.passers.filter(wide.minds).has(y.place())
        };
        if passes(x, y) | passes(y, x) { None } else { Some(false) }
    }

    /// Returns whether the definition is to be asked about a tag.
    pub(super) fn is_ask(&self, tag: usize) -> bool {
        self.records[tag].root & ASK != 0
    }

    /// Returns a function from tags to what is to be known of many at once. None
    /// is regular where it would take longer to find out than to answer so many
    /// `pairs`.
    pub(super) fn places(&self, pairs: usize) -> impl Fn(usize) -> Place + '_ {
        let worth = !self.forest.has_loose() || pairs >= self.forest.len();
        let spans = worth.then(|| self.forest.spans());
        move |tag| {
            let Some(record) = self.records.get(tag).filter(|record| record.root != ROOT) else {
                return Place::Rejected;
            };
            let root = record.root & ROOT;
            match &spans {
                Some(spans) if record.root & (WIDE | ASK) == 0 => {
                    Place::Regular(root, spans[record.cursor as usize], record.place())
                }
                _ => Place::Other(root),
            }
        }
    }

    /// Returns a filter that the base types of all regular tags pass that may
    /// alias a tag and have its root.
    pub(super) fn filter(&self, tag: usize) -> Filter {
        let record = self.records[tag];
        if record.root & (WIDE | ASK) != WIDE {
            return Filter::ALL;
        }
        let wide = &self.wide[record.cursor as usize];
        let mut filter = wide.filter;
        filter.add_all(self.passers.filter(wide.minds));
        filter
    }

    /// Returns a wide tag's number among the wide ones.
    pub(super) fn wide(&self, tag: usize) -> Option<usize> {
        let record = self.records[tag];
        (record.root & WIDE != 0).then(|| record.cursor as usize - 1)
    }

    /// Returns whether a tag may alias all others; so does one not yet added.
    pub(super) fn is_rejected(&self, tag: usize) -> bool {
        self.records.get(tag).is_none_or(|record| record.root == ROOT)
    }

    /// Adds the next tag as one that may alias all others.
    pub(super) fn push_rejected(&mut self) {
        self.spans.push(ALL);
        self.records.push(Record { root: ROOT, cursor: NONE });
    }

    fn push_record(&mut self, root: u32, flags: u32, base: u32, cursor: u32) {
        let number = self.number(root);
        let place = (Filter::place(base) as u32) << PLACE;
        let flags = flags | if number == MANY { ASK } else { 0 };
        self.spans.push(ALL);
        self.records.push(Record { root: number | place | flags, cursor });
    }

    fn number(&mut self, root: u32) -> u32 {
        let next = self.roots.len().min(MANY as usize) as u32;
        let number = *self.roots.entry(root).or_insert(next);
        self.mixed = self.roots.len() > 1;
        number
    }

    /// Adds the next tag as one on which the definition decides.
    pub(super) fn push_ask(&mut self, root: u32) {
        self.push_record(root, ASK, NONE, NONE);
    }

    /// Adds the next tag, a regular one, with its cursor, which is a place in its
    /// base type.
    pub(super) fn push_regular(&mut self, root: u32, cursor: u32) {
        self.push_record(root, 0, self.ty(cursor), cursor);
    }

    /// Adds the next tag, the next wide one. It aliases no tag of its root that
    /// does not pass its filter, whose walk does not come to the type minded,
    /// and whose own filter, if that is wide, it does not pass.
    pub(super) fn push_wide(&mut self, root: u32, cursor: u32, filter: Filter, minds: Option<u32>) {
        let Compiled { forest, types, passers, .. } = self;
        let entered = || {
            let next = |cursor| forest.parent(cursor).map(|next| types[next as usize] & !ROUTED);
            (0..forest.len() as u32).filter_map(next)
        };
        let minds = minds.map_or(Passers::NOBODY, |ty| passers.mind(ty, entered));
        self.push_record(root, WIDE, self.ty(cursor), self.wide.len() as u32);
        self.wide.push(Wide { cursor, filter, minds });
    }

    /// Has the definition decide on all tags under `root` so far.
    pub(super) fn ask_under(&mut self, root: u32) {
        let number = self.number(root);
        self.asks |= self.asked.insert(number);
    }

    /// Gives the tags added since the last call their spans, after which they
    /// may be asked about; all tags, where the forest was numbered anew.
    pub(super) fn settle(&mut self) {
        if self.forest.settle() {
            self.renumbered();
        }
        if std::mem::take(&mut self.asks) {
            for (record, span) in self.records.iter_mut().zip(&mut self.spans) {
                if self.asked.contains(&(record.root & ROOT)) {
                    record.root |= ASK;
                    *span = ALL;
                }
            }
        }
        for (span, record) in self.spans.iter_mut().zip(&mut self.records).skip(self.settled) {
            if record.root & (WIDE | ASK) != 0 || record.cursor == NONE {
                continue;
            }
            *span = self.forest.span(record.cursor);
            record.root &= !LOOSE;
            if self.forest.is_loose(record.cursor) {
                record.root |= LOOSE;
            }
        }
        self.settled = self.records.len();
    }

    fn renumbered(&mut self) {
        self.settled = 0;
        self.passers.complete(&self.forest, |cursor| self.types[cursor as usize] & !ROUTED);
    }

    /// Numbers all cursors, and gives back memory that the tables hold to grow
    /// into.
    pub(super) fn finish(&mut self) {
        if self.forest.has_loose() {
            self.forest.number();
            self.renumbered();
            self.settle();
        }
        let mut known = std::mem::take(&mut self.known);
        known.shrink_to_fit(|&cursor| self.hash_of(cursor));
        self.known = known;
        self.forest.shrink_to_fit();
        self.types.shrink_to_fit();
        self.offsets.shrink_to_fit();
        self.spans.shrink_to_fit();
        self.records.shrink_to_fit();
        self.wide.shrink_to_fit();
        self.passers.shrink_to_fit();
    }

    /// Returns the cursor of a place from which all tags go on alike.
    pub(super) fn find(&self, ty: u32, offset: u64) -> Option<u32> {
        let is_it =
            |&cursor: &u32| self.types[cursor as usize] == ty && self.offset(cursor) == offset;
        self.known.find(self.hash(ty, offset, NONE), is_it).copied()
    }

    /// Adds a cursor that [`Compiled::find`] did not find, below `next`.
    pub(super) fn push(&mut self, ty: u32, offset: u64, next: Option<u32>) -> u32 {
        self.insert(ty, offset, next, NONE)
    }

    /// Returns the cursor of a place from which tags go different ways, on the
    /// way to `next` or at its end.
    pub(super) fn routed(&mut self, ty: u32, offset: u64, next: Option<u32>) -> u32 {
        let is_it = |&cursor: &u32| {
            self.types[cursor as usize] == ty | ROUTED
                && self.offset(cursor) == offset
                && self.forest.parent(cursor) == next
        };
        let route = next.unwrap_or(NONE);
        let found = self.known.find(self.hash(ty, offset, route), is_it).copied();
        found.unwrap_or_else(|| self.insert(ty | ROUTED, offset, next, route))
    }

    fn insert(&mut self, ty: u32, offset: u64, next: Option<u32>, route: u32) -> u32 {
        let cursor = self.forest.push(next);
        if let Some(next) = next {
            let Compiled { passers, forest, types, .. } = self;
            passers.add(ty & !ROUTED, forest.walk(next).map(|at| types[at as usize] & !ROUTED));
        }
        self.types.push(ty);
        self.offsets.push(u32::try_from(offset).unwrap_or(FAR));
        if offset >= FAR.into() {
            self.far.insert(cursor, offset);
        }
        let hash = self.hash(ty & !ROUTED, offset, route);
        let mut known = std::mem::take(&mut self.known);
        known.insert_unique(hash, cursor, |&other| self.hash_of(other));
        self.known = known;
        cursor
    }

    fn hash(&self, ty: u32, offset: u64, route: u32) -> u64 {
        self.hasher.hash_one((ty, offset, route))
    }

    /// The hash of a cursor that is known.
    fn hash_of(&self, cursor: u32) -> u64 {
        let routed = self.types[cursor as usize] & ROUTED != 0;
        let route = self.forest.parent(cursor).filter(|_| routed).unwrap_or(NONE);
        self.hash(self.ty(cursor), self.offset(cursor), route)
    }

    fn offset(&self, cursor: u32) -> u64 {
        match self.offsets[cursor as usize] {
            FAR => self.far[&cursor],
            offset => offset.into(),
        }
    }

    /// Returns the types on a walk.
    pub(super) fn types_from(&self, cursor: u32) -> impl Iterator<Item = u32> + '_ {
        self.forest.walk(cursor).map(|at| self.ty(at))
    }

    pub(super) fn ty(&self, cursor: u32) -> u32 {
        self.types[cursor as usize] & !ROUTED
    }
}

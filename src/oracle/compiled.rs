//! The table that queries read: a record of 16 bytes for each tag.
//!
//! A *cursor* is a place on a tag's walk: a type and an offset into it, and
//! then, from the scalar that is accessed, the scalar's parents. Each rule says
//! which cursor comes next; each has one successor, so cursors form a
//! [`Forest`]. Two *regular* tags of one root may alias iff one's cursor lies
//! on the other's walk, which is one comparison of intervals. What makes a tag
//! regular is the rule's to say, and so is what comes of the others, which are
//! marked [`WIDE`] or [`ASK`].

use std::hash::BuildHasher;

use hashbrown::HashTable;

use super::forest::{Forest, Span};
use crate::table::{DefaultHashBuilder, HashMap, HashSet};

/// What a query reads of a tag.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// That of a regular tag's cursor; of a wide tag, the two halves of its
    /// filter in short.
    span: Span,
    /// The root above the access type, and flags.
    root: u32,
    /// The base type, and whether it is a [`SCALAR`].
    base: u32,
}

/// The base types of tags that a wide tag may alias, a bit for several types.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Filter([u64; 4]);

impl Filter {
    /// Any type.
    pub(super) const ALL: Filter = Filter([u64::MAX; 4]);

    /// A word, and a bit in it.
    #[inline]
    fn place(ty: u32) -> (usize, u32) {
        let hash = ty.wrapping_mul(0x9e37_79b1);
        ((hash >> 30) as usize, hash >> 24 & 63)
    }

    pub(super) fn add(&mut self, ty: u32) {
        let (word, bit) = Filter::place(ty);
        self.0[word] |= 1 << bit;
    }

    pub(super) fn add_all(&mut self, other: &Filter) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }

    fn passes(&self, ty: u32) -> bool {
        let (word, bit) = Filter::place(ty);
        self.0[word] >> bit & 1 != 0
    }

    /// The filter in short, as a record holds it.
    fn short(&self) -> Span {
        let short = self.0.iter().fold(0, |all, word| all | word);
        Span { start: short as u32, end: (short >> 32) as u32 }
    }
}

/// Marks the base type of a tag that is a scalar.
const SCALAR: u32 = 1 << 31;

/// A tag's base type.
#[derive(Clone, Copy)]
pub(super) struct Base {
    pub(super) ty: u32,
    pub(super) scalar: bool,
}

impl Base {
    fn packed(self) -> u32 {
        self.ty | if self.scalar { SCALAR } else { 0 }
    }
}

impl Record {
    pub(super) fn base(self) -> u32 {
        self.base & !SCALAR
    }

    /// Whether the base type is a scalar.
    pub(super) fn is_scalar(self) -> bool {
        self.base & SCALAR != 0
    }

    /// Whether the cursors of two regular tags have numbers in common.
    #[inline]
    fn meets(&self, other: &Record) -> bool {
        (self.span.start < other.span.end) & (other.span.start < self.span.end)
    }

    /// Whether this is of a wide tag that the other may alias, as far as the
    /// filter in short says.
    #[inline]
    fn lets_pass(&self, other: &Record) -> bool {
        let short = u64::from(self.span.end) << 32 | u64::from(self.span.start);
        let (_, bit) = Filter::place(other.base());
        (self.root & WIDE != 0) & (short >> bit & 1 != 0)
    }
}

/// The bits of [`Record::root`] that name the root.
const ROOT: u32 = (1 << 29) - 1;
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

/// What is to be done about two tags of which not both are regular.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// They do not alias.
    No,
    /// The rule's further tables are to be asked.
    Wide,
    /// The definition is to be asked.
    Ask,
}

/// What the tables of all rules have of a wide tag.
#[derive(Clone, Debug)]
struct Wide {
    filter: Filter,
    cursor: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Compiled {
    pub(super) forest: Forest,
    /// Type of each cursor, and whether it is [`ROUTED`].
    types: Vec<u32>,
    /// Offset of each cursor.
    offsets: Vec<u64>,
    /// The cursors, hashed by type, offset and route.
    known: HashTable<u32>,
    hasher: DefaultHashBuilder,
    records: Vec<Record>,
    /// Each regular tag's cursor, each wide tag's number among the wide ones; or
    /// [`NONE`].
    cursors: Vec<u32>,
    wide: Vec<Wide>,
    /// Records whose spans are set.
    settled: usize,
    /// Types to which some cursor leads on.
    entered: HashSet<u32>,
    /// Wide tags whose filters hold until a type is entered.
    until: HashMap<u32, Vec<u32>>,
}

impl Compiled {
    /// Number of tags that have a record.
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    pub(super) fn record(&self, tag: usize) -> Record {
        self.records[tag]
    }

    pub(super) fn cursor(&self, tag: usize) -> u32 {
        self.wide(tag).map_or(self.cursors[tag], |wide| self.wide[wide].cursor)
    }

    /// Returns whether two tags may alias, where the records say it.
    #[inline]
    pub(super) fn decide(&self, a: u32, b: u32) -> Option<bool> {
        let (Some(x), Some(y)) = (self.records.get(a as usize), self.records.get(b as usize))
        else {
            return Some(true);
        };
        let apart = (x.root ^ y.root) & ROOT != 0;
        if (x.root | y.root) & (WIDE | ASK) == 0 {
            let meet = x.meets(y);
            // Which of the two intervals lies first is anybody's guess: no
            // branch on it.
            if (x.root & y.root & LOOSE == 0) | !meet {
                return Some(apart | meet);
            }
            return Some(apart || self.climb(a, b));
        }
        let beyond = (x.root | y.root) & ASK != 0 || x.lets_pass(y) | y.lets_pass(x);
        if apart | !beyond { Some(apart) } else { None }
    }

    /// Whether two loose cursors of one number are on one walk.
    #[inline(never)]
    fn climb(&self, a: u32, b: u32) -> bool {
        self.forest.related(self.cursor(a as usize), self.cursor(b as usize))
    }

    /// Returns where to look for what [`Compiled::decide`] leaves open.
    pub(super) fn filter(&self, a: usize, b: usize) -> Verdict {
        let (x, y) = (self.records[a], self.records[b]);
        if (x.root | y.root) & ASK != 0 {
            return Verdict::Ask;
        }
        let passes = |tag: usize, other: &Record| {
            self.wide(tag).is_some_and(|wide| self.wide[wide].filter.passes(other.base()))
        };
        if passes(a, &y) || passes(b, &x) { Verdict::Wide } else { Verdict::No }
    }

    /// Returns a function from tags to their roots and spans, of no two cursors
    /// alike; `None` for tags that are not regular, and for all where it would
    /// take longer to find out than to answer so many `pairs`.
    pub(super) fn regular_spans(&self, pairs: usize) -> impl Fn(usize) -> Option<(u32, Span)> + '_ {
        let worth = !self.forest.has_loose() || pairs >= self.forest.len();
        let spans = worth.then(|| self.forest.spans());
        move |tag| {
            let (record, spans) = (self.records.get(tag)?, spans.as_ref()?);
            let regular = record.root & (WIDE | ASK) == 0 && record.root & ROOT != ROOT;
            regular.then(|| (record.root & ROOT, spans[self.cursors[tag] as usize]))
        }
    }

    /// Returns a wide tag's number among the wide ones.
    pub(super) fn wide(&self, tag: usize) -> Option<usize> {
        (self.records[tag].root & WIDE != 0).then(|| self.cursors[tag] as usize)
    }

    /// Returns whether a tag may alias all others; so does one not yet added.
    pub(super) fn is_rejected(&self, tag: usize) -> bool {
        self.records.get(tag).is_none_or(|record| record.root == ROOT)
    }

    /// Adds the next tag as one that may alias all others.
    pub(super) fn push_rejected(&mut self) {
        let span = Span { start: 0, end: u32::MAX };
        self.records.push(Record { span, root: ROOT, base: NONE });
        self.cursors.push(NONE);
    }

    /// Adds the next tag as one on which the definition decides.
    pub(super) fn push_ask(&mut self, root: u32) {
        let span = Span { start: 0, end: 0 };
        self.records.push(Record { span, root: root | ASK, base: NONE });
        self.cursors.push(NONE);
    }

    /// Adds the next tag, a regular one, with its cursor.
    pub(super) fn push_regular(&mut self, root: u32, base: Base, cursor: u32) {
        let base = base.packed();
        self.records.push(Record { span: Span { start: 0, end: 0 }, root, base });
        self.cursors.push(cursor);
    }

    /// Adds the next tag, the next wide one. It aliases no tag of its root that
    /// does not pass its filter and whose own filter, if that is wide, it does
    /// not pass; unless it minds whose walk enters a type: then that holds as
    /// long as none does.
    pub(super) fn push_wide(
        &mut self,
        (root, base): (u32, Base),
        cursor: u32,
        mut filter: Filter,
        minds: Option<u32>,
    ) {
        if let Some(ty) = minds {
            if self.entered.contains(&ty) {
                filter = Filter::ALL;
            } else {
                self.until.entry(ty).or_default().push(self.records.len() as u32);
            }
        }
        let base = base.packed();
        self.records.push(Record { span: filter.short(), root: root | WIDE, base });
        self.cursors.push(self.wide.len() as u32);
        self.wide.push(Wide { filter, cursor });
    }

    /// Has the definition decide on all tags under `root` so far.
    pub(super) fn ask_under(&mut self, root: u32) {
        for record in self.records.iter_mut().filter(|record| record.root & ROOT == root) {
            record.root |= ASK;
        }
    }

    /// Gives the tags added since the last call their spans, after which they
    /// may be asked about; all tags, where the forest was numbered anew.
    pub(super) fn settle(&mut self) {
        if self.forest.settle() {
            self.settled = 0;
        }
        for tag in self.settled..self.records.len() {
            let cursor = self.cursors[tag];
            let record = &mut self.records[tag];
            if cursor == NONE || record.root & WIDE != 0 {
                continue;
            }
            record.span = self.forest.span(cursor);
            record.root &= !LOOSE;
            if self.forest.is_loose(cursor) {
                record.root |= LOOSE;
            }
        }
        self.settled = self.records.len();
    }

    /// Numbers all cursors, and gives back memory that the tables hold to grow
    /// into.
    pub(super) fn finish(&mut self) {
        if self.forest.has_loose() {
            self.forest.number();
            self.settled = 0;
        }
        self.settle();
        self.forest.shrink_to_fit();
        self.types.shrink_to_fit();
        self.offsets.shrink_to_fit();
        self.records.shrink_to_fit();
        self.cursors.shrink_to_fit();
        self.wide.shrink_to_fit();
    }

    /// Returns the cursor of a place from which all tags go on alike.
    pub(super) fn find(&self, ty: u32, offset: u64) -> Option<u32> {
        let is_it = |&cursor: &u32| {
            self.types[cursor as usize] == ty && self.offsets[cursor as usize] == offset
        };
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
                && self.offsets[cursor as usize] == offset
                && self.forest.parent(cursor) == next
        };
        let route = next.unwrap_or(NONE);
        let found = self.known.find(self.hash(ty, offset, route), is_it).copied();
        found.unwrap_or_else(|| self.insert(ty | ROUTED, offset, next, route))
    }

    fn insert(&mut self, ty: u32, offset: u64, next: Option<u32>, route: u32) -> u32 {
        let cursor = self.forest.push(next);
        if let Some(next) = next
            && self.entered.insert(self.ty(next))
        {
            for tag in self.until.remove(&self.ty(next)).into_iter().flatten() {
                self.records[tag as usize].span = Filter::ALL.short();
                self.wide[self.cursors[tag as usize] as usize].filter = Filter::ALL;
            }
        }
        self.types.push(ty);
        self.offsets.push(offset);
        let hash = self.hash(ty & !ROUTED, offset, route);
        let Compiled { known, hasher, types, offsets, forest, .. } = self;
        known.insert_unique(hash, cursor, |&other| {
            let ty = types[other as usize];
            let route = if ty & ROUTED == 0 { NONE } else { forest.parent(other).unwrap_or(NONE) };
            hasher.hash_one((ty & !ROUTED, offsets[other as usize], route))
        });
        cursor
    }

    fn hash(&self, ty: u32, offset: u64, route: u32) -> u64 {
        self.hasher.hash_one((ty, offset, route))
    }

    /// Returns the types on a walk.
    pub(super) fn types_from(&self, cursor: u32) -> impl Iterator<Item = u32> + '_ {
        let walk = std::iter::successors(Some(cursor), |&at| self.forest.parent(at));
        walk.map(|cursor| self.ty(cursor))
    }

    pub(super) fn ty(&self, cursor: u32) -> u32 {
        self.types[cursor as usize] & !ROUTED
    }
}

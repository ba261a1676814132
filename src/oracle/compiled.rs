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
    /// That of a regular tag's cursor. A wide tag's number among the wide ones,
    /// and its [`Filter`].
    span: Span,
    /// The root above the access type, and flags.
    root: u32,
    /// The base type, and whether it is a [`SCALAR`].
    base: u32,
}

/// The base types of tags that a wide tag may alias, a bit for several types.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Filter([u32; 8]);

impl Filter {
    /// Any type.
    pub(super) const ALL: Filter = Filter([u32::MAX; 8]);

    /// A word, and a bit in it.
    fn place(ty: u32) -> (usize, u32) {
        let hash = ty.wrapping_mul(0x9e37_79b1);
        ((hash >> 24 & 7) as usize, 1 << (hash >> 27))
    }

    pub(super) fn add(&mut self, ty: u32) {
        let (word, bit) = Filter::place(ty);
        self.0[word] |= bit;
    }

    pub(super) fn add_all(&mut self, other: &Filter) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }

    fn passes(&self, ty: u32) -> bool {
        let (word, bit) = Filter::place(ty);
        self.0[word] & bit != 0
    }

    /// The filter in short, as a record holds it.
    fn short(&self) -> u32 {
        self.0.iter().fold(0, |all, word| all | word)
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

/// What the records of two tags say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    May,
    No,
    /// One of the tags is wide.
    Wide,
    /// The definition must be asked.
    Ask,
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
    /// Each tag's cursor, or [`NONE`].
    cursors: Vec<u32>,
    /// The filters of the wide tags.
    filters: Vec<Filter>,
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
        self.cursors[tag]
    }

    /// Returns what the records say of two tags.
    #[inline]
    pub(super) fn verdict(&self, a: usize, b: usize) -> Verdict {
        let (Some(x), Some(y)) = (self.records.get(a), self.records.get(b)) else {
            return Verdict::May;
        };
        if (x.root | y.root) & (WIDE | ASK) != 0 {
            return self.beyond(x, y);
        }
        let apart = (x.root ^ y.root) & ROOT != 0;
        // Of random pairs nearly all are neither, and which of the two intervals
        // lies first is anybody's guess: one branch, on both comparisons.
        let meet = (x.span.start < y.span.end) & (y.span.start < x.span.end);
        if !(apart | meet) {
            return Verdict::No;
        }
        if apart || x.root & y.root & LOOSE == 0 {
            return Verdict::May;
        }
        self.climb(a, b)
    }

    /// What two loose cursors of one number say.
    #[cold]
    fn climb(&self, a: usize, b: usize) -> Verdict {
        let related = self.forest.related(self.cursors[a], self.cursors[b]);
        if related { Verdict::May } else { Verdict::No }
    }

    /// What the records of two tags say if one is not regular.
    fn beyond(&self, x: &Record, y: &Record) -> Verdict {
        if (x.root ^ y.root) & ROOT != 0 {
            return Verdict::May;
        }
        if (x.root | y.root) & ASK != 0 {
            return Verdict::Ask;
        }
        let passes = |wide: &Record, other: &Record| {
            wide.root & WIDE != 0
                && wide.span.end & Filter::place(other.base()).1 != 0
                && self.filters[wide.span.start as usize].passes(other.base())
        };
        if passes(x, y) || passes(y, x) { Verdict::Wide } else { Verdict::No }
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
        let record = &self.records[tag];
        (record.root & WIDE != 0).then_some(record.span.start as usize)
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
        let span = Span { start: self.filters.len() as u32, end: filter.short() };
        self.filters.push(filter);
        self.records.push(Record { span, root: root | WIDE, base });
        self.cursors.push(cursor);
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

    /// Gives back memory that the tables hold to grow into.
    pub(super) fn shrink_to_fit(&mut self) {
        self.forest.shrink_to_fit();
        self.types.shrink_to_fit();
        self.offsets.shrink_to_fit();
        self.records.shrink_to_fit();
        self.cursors.shrink_to_fit();
        self.filters.shrink_to_fit();
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
                let span = &mut self.records[tag as usize].span;
                span.end = Filter::ALL.short();
                self.filters[span.start as usize] = Filter::ALL;
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

//! The index: an interval of 8 bytes for each tag decides most queries, and a record of 8 bytes
//! says how to decide when intervals meet.
//!
//! Each rule defines the next cursor of a tag's walk ([`Walks`]). A tag has one of three roles:
//!
//! - *regular*: only one path leads from its base type to the one scalar that it accesses. Two
//!   regular tags of one root may alias iff one's cursor lies on the other's walk, which takes one
//!   comparison of intervals;
//! - *other*: the rule's definition decides, unless neither base type may contain the other;
//! - *rejected*: it may alias everything.
//!
//! The intervals of tags that are not regular meet all others.

use std::sync::atomic::{AtomicU32, Ordering};

use super::types::{TypeIndex, Types};
use crate::forest::Span;
use crate::table::HashMap;
use crate::walks::Walks;

/// A tag's role in the index: how it is decided on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Rejected,
    /// Its root's number and its cursor.
    Regular(u32, u32),
    /// Its root's number, and its number among the other tags.
    Other(u32, u32),
}

/// A tag in the index.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// The number of the root above the access type, and flags.
    root: u32,
    /// A regular tag's cursor; another tag's number.
    link: u32,
}

/// A tag's interval, and a bit that says whether more must be compared when it meets another. Both
/// numbers are doubled; there are at most [`MOST_CURSORS`](crate::walks::MOST_CURSORS).
#[derive(Clone, Copy, Debug)]
struct Interval {
    start: u32,
    /// Past the last number, and [`OPEN`].
    end: u32,
}

/// The bit of [`Interval::end`] that is set unless a regular tag's cursor has a number of its own.
const OPEN: u32 = 1;

/// The interval of a tag that is not regular.
const ALL: Interval = Interval { start: 0, end: i32::MAX as u32 };

/// The bits of [`Record::root`] that number the root; all are set for a rejected tag.
const ROOT: u32 = OTHER - 1;
const OTHER: u32 = 1 << 31;

/// No cursor.
const NONE: u32 = u32::MAX;

impl Interval {
    /// Returns whether two intervals overlap, or are adjacent and one of them is open. Random
    /// intervals are nearly always disjoint, in unpredictable order: two differences are combined
    /// by sign, which avoids a branch.
    #[inline]
    fn meets(&self, other: &Interval) -> bool {
        let before = |start: u32, end: u32| start as i32 - end as i32;
        before(self.start, other.end) & before(other.start, self.end) < 0
    }
}

/// The base type of each tag, if it alone may separate the tag from others. A tag that may alias
/// everything, or has not been analysed, has none.
#[derive(Default, Debug)]
struct Bases(Vec<AtomicU32>);

impl Clone for Bases {
    fn clone(&self) -> Self {
        let base = |base: &AtomicU32| base.load(Ordering::Relaxed).into();
        Bases(self.0.iter().map(base).collect())
    }
}

#[derive(Clone, Default, Debug)]
pub(super) struct Index {
    /// The cursors of tags.
    pub(super) walks: Walks,
    /// The types and their contents. Rule `llvm` uses them for tags that are not regular.
    pub(super) types: Types,
    /// The intervals; empty if tags have several roots, because an interval does not record the
    /// root.
    intervals: Vec<Interval>,
    records: Vec<Record>,
    bases: Bases,
    /// The numbers of the tags' roots.
    roots: HashMap<u32, u32>,
    /// True if the tags have several roots.
    pub(super) mixed: bool,
    /// Number of other tags.
    others: u32,
}

impl Index {
    /// Number of tags in the index.
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns how a tag is indexed; one not added yet is rejected.
    #[inline]
    pub(super) fn role(&self, tag: u32) -> Role {
        let Some(&Record { root, link }) = self.records.get(tag as usize) else {
            return Role::Rejected;
        };
        match root {
            ROOT => Role::Rejected,
            _ if root & OTHER != 0 => Role::Other(root & ROOT, link),
            _ => Role::Regular(root & ROOT, link),
        }
    }

    /// Returns whether two tags, by [`TagId::index_in`](crate::TagId), may alias, if their
    /// intervals decide it. There is only one branch, which is rarely taken: another would be
    /// unpredictable for random pairs, and cost as much as all the rest.
    #[inline]
    pub(super) fn by_interval(&self, a: u64, b: u64) -> Option<bool> {
        if a.max(b) >= self.intervals.len() as u64 {
            return None;
        }
        let (x, y) = (&self.intervals[a as usize], &self.intervals[b as usize]);
        let meet = x.meets(y);
        let open = (x.end | y.end) & OPEN != 0;
        if open & meet { None } else { Some(meet) }
    }

    /// Returns whether two tags may alias; `None` leaves it to the rule.
    pub(super) fn decide(&self, a: u32, b: u32) -> Option<bool> {
        let by_base = || self.are_apart(a, b).then_some(false);
        self.by_interval(a.into(), b.into())
            .or_else(by_base)
            .or_else(|| self.by_record(a as usize, b as usize))
    }

    fn by_record(&self, a: usize, b: usize) -> Option<bool> {
        let (Some(x), Some(y)) = (self.records.get(a), self.records.get(b)) else {
            return Some(true);
        };
        if (x.root ^ y.root) & ROOT != 0 || x.root == ROOT {
            return Some(true);
        }
        if (x.root | y.root) & OTHER != 0 {
            return None;
        }
        Some(self.walks.forest.related(x.link, y.link))
    }

    /// Returns whether base types show that two tags do not alias: there is one root, and neither may
    /// hold the other.
    #[inline]
    pub(super) fn are_apart(&self, a: u32, b: u32) -> bool {
        let (Some(x), Some(y)) = (self.base(a), self.base(b)) else { return false };
        !self.mixed && self.types.are_apart(x, y)
    }

    /// Returns a tag's base type, if it may separate the tag from others.
    #[inline]
    pub(super) fn base(&self, tag: u32) -> Option<TypeIndex> {
        let base = self.bases.0.get(tag as usize)?.load(Ordering::Relaxed);
        (base != NONE).then_some(base)
    }

    /// Records that a base type may separate a tag from others.
    pub(super) fn set_base(&self, tag: u32, base: TypeIndex) {
        self.bases.0[tag as usize].store(base, Ordering::Relaxed);
    }

    /// Adds the next tag with the role *rejected*.
    pub(super) fn push_rejected(&mut self) {
        self.push(Record { root: ROOT, link: NONE }, NONE);
    }

    /// Adds the next tag as the next of those on which the rule decides.
    pub(super) fn push_other(&mut self, root: u32) {
        let root = self.number(root) | OTHER;
        self.push(Record { root, link: self.others }, NONE);
        self.others += 1;
    }

    /// Adds the next tag, a regular one, with its base type if that is known.
    pub(super) fn push_regular(&mut self, root: u32, cursor: u32, base: Option<TypeIndex>) {
        let root = self.number(root);
        self.push(Record { root, link: cursor }, base.unwrap_or(NONE));
    }

    fn push(&mut self, record: Record, base: u32) {
        self.records.push(record);
        self.bases.0.push(base.into());
    }

    /// Returns a root's number. There are fewer than 2^31 - 1: a graph of so
    /// many roots, with a type and a tag for each, is larger than node ids reach.
    fn number(&mut self, root: u32) -> u32 {
        let next = self.roots.len() as u32;
        let number = *self.roots.entry(root).or_insert(next);
        self.mixed = self.roots.len() > 1;
        number
    }

    /// Sets the intervals of the tags added since the last call, or of all tags if the forest was
    /// renumbered.
    pub(super) fn catch_up(&mut self) {
        let forest = &mut self.walks.forest;
        if forest.catch_up() || self.mixed {
            self.intervals.clear();
        }
        if self.mixed {
            return;
        }
        let interval = |&Record { root, link }: &Record| {
            if root & OTHER != 0 || link == NONE {
                return ALL;
            }
            let Span { start, end } = forest.span(link);
            let open = u32::from(forest.is_unnumbered(link));
            Interval { start: 2 * start, end: 2 * end + open * OPEN }
        };
        self.intervals.extend(self.records[self.intervals.len()..].iter().map(interval));
    }

    /// Returns how many tags have intervals that do not decide by themselves.
    pub(super) fn open(&self) -> usize {
        let open = |interval: &&Interval| interval.end & OPEN != 0;
        if self.mixed { self.len() } else { self.intervals.iter().filter(open).count() }
    }

    /// Numbers all cursors, and gives back memory that the tables hold to grow into.
    pub(super) fn finish(&mut self) {
        if self.walks.forest.has_unnumbered() {
            self.walks.forest.number();
            self.intervals.clear();
            self.catch_up();
        }
        self.walks.shrink_to_fit();
        self.intervals.shrink_to_fit();
        self.records.shrink_to_fit();
        self.bases.0.shrink_to_fit();
    }
}

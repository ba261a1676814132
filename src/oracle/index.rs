//! The index. If all tags have one root, each tag has an interval of 8 bytes, and the intervals of
//! two tags decide most queries. A record of 8 bytes for each tag says how to decide other queries.
//!
//! A tag's *walk* visits types from its base type on; each rule defines the steps. A *cursor* is a
//! type and offset on a walk ([`Walks`]); a tag's cursor is the first on its walk. Cursors form a
//! forest, in which the parent of a cursor is the next one on the walk. A tag is
//! - *regular* if it accesses one scalar, to which the rule follows only one path. Two regular tags
//!   of one root may alias iff the cursor of one is on the walk of the other, which the intervals
//!   of the cursors in the forest decide;
//! - *other* if the rule's slow algorithm must decide, unless base types exclude an alias;
//! - *rejected* if it may alias everything.
//!
//! The intervals of other and rejected tags overlap all intervals.

use std::sync::atomic::{AtomicU32, Ordering};

use super::types::{TypeIndex, Types};
use crate::forest::Span;
use crate::table::HashMap;
use crate::walks::Walks;

/// The role of a tag in the index. It determines how queries about the tag are decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Rejected,
    /// The number of the tag's root, and the tag's cursor.
    Regular(u32, u32),
    /// The number of the tag's root, and the number of the tag among those with the role *other*.
    Other(u32, u32),
}

#[derive(Clone, Copy, Debug)]
struct Record {
    /// The number of the root above the access type, combined with flags.
    root: u32,
    /// The cursor of a regular tag, or the number of a tag with the role *other*.
    link: u32,
}

/// A tag's interval. Both ends are doubled to make room for the bit [`OPEN`], and still fit: see
/// [`MOST_CURSORS`](crate::walks::MOST_CURSORS).
#[derive(Clone, Copy, Debug)]
struct Interval {
    start: u32,
    /// The number after the last of the interval, doubled, plus [`OPEN`] if that bit is set.
    end: u32,
}

/// The bit of [`Interval::end`] that is set if an overlap with the interval decides nothing. It is
/// clear iff the tag is regular and the forest has given its cursor an interval of its own.
const OPEN: u32 = 1;

/// The interval of every tag that is not regular.
const ALL: Interval = Interval { start: 0, end: i32::MAX as u32 };

/// The bits of [`Record::root`] that contain the root's number. All are set for a rejected tag.
const ROOT: u32 = OTHER - 1;
const OTHER: u32 = 1 << 31;

/// Means that there is no cursor, or no base type.
const NONE: u32 = u32::MAX;

impl Interval {
    /// Returns whether two intervals overlap, or are adjacent and the lower has the bit [`OPEN`].
    /// For random tags, either interval may be the lower, which is hard to predict. So this
    /// combines the signs of two differences instead of branching.
    #[inline]
    fn meets(&self, other: &Interval) -> bool {
        let before = |start: u32, end: u32| start as i32 - end as i32;
        before(self.start, other.end) & before(other.start, self.end) < 0
    }
}

/// The base type of each tag whose base type may prove that the tag does not alias another. `NONE`
/// for every other tag, and as long as nothing is known about a tag.
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
    pub(super) walks: Walks,
    pub(super) types: Types,
    /// The intervals of all tags. Empty if the tags have several roots: intervals record no root.
    intervals: Vec<Interval>,
    records: Vec<Record>,
    bases: Bases,
    /// The number of each root that tags have.
    roots: HashMap<u32, u32>,
    /// True if the tags do not all have the same root.
    pub(super) mixed: bool,
    /// The number of tags with the role *other*.
    others: u32,
}

impl Index {
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns the role of a tag. A tag that was not added yet counts as rejected.
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

    /// Returns whether two tags may alias, or `None` if their intervals do not decide. `a` and `b`
    /// are from [`TagId::index_in`](crate::TagId). A branch on `meet` would be unpredictable and
    /// slow.
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

    /// Returns whether two tags may alias, or `None` if the rule must decide.
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

    /// Returns whether base types prove that two tags do not alias: all tags have one root, and
    /// neither base type can contain the other.
    #[inline]
    pub(super) fn are_apart(&self, a: u32, b: u32) -> bool {
        let (Some(x), Some(y)) = (self.base(a), self.base(b)) else { return false };
        !self.mixed && self.types.are_apart(x, y)
    }

    #[inline]
    pub(super) fn base(&self, tag: u32) -> Option<TypeIndex> {
        let base = self.bases.0.get(tag as usize)?.load(Ordering::Relaxed);
        (base != NONE).then_some(base)
    }

    /// Records the base type of a tag, which must satisfy the condition of [`Bases`].
    pub(super) fn set_base(&self, tag: u32, base: TypeIndex) {
        self.bases.0[tag as usize].store(base, Ordering::Relaxed);
    }

    pub(super) fn push_rejected(&mut self) {
        self.push(Record { root: ROOT, link: NONE }, NONE);
    }

    pub(super) fn push_other(&mut self, root: u32) {
        let root = self.number(root) | OTHER;
        self.push(Record { root, link: self.others }, NONE);
        self.others += 1;
    }

    pub(super) fn push_regular(&mut self, root: u32, cursor: u32, base: Option<TypeIndex>) {
        let root = self.number(root);
        self.push(Record { root, link: cursor }, base.unwrap_or(NONE));
    }

    fn push(&mut self, record: Record, base: u32) {
        self.records.push(record);
        self.bases.0.push(base.into());
    }

    /// Returns the number of a root. It is below [`ROOT`], because a graph has at most 2^29 nodes.
    fn number(&mut self, root: u32) -> u32 {
        let next = self.roots.len() as u32;
        let number = *self.roots.entry(root).or_insert(next);
        self.mixed = self.roots.len() > 1;
        number
    }

    /// Sets the intervals of the tags that were added since the last call, or of all tags if the
    /// forest has been renumbered. If the tags have several roots, removes all intervals.
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

    /// Returns the number of tags whose intervals do not always decide: all tags if roots differ.
    pub(super) fn open(&self) -> usize {
        let open = |interval: &&Interval| interval.end & OPEN != 0;
        if self.mixed { self.len() } else { self.intervals.iter().filter(open).count() }
    }

    /// Numbers all cursors, and releases memory that the tables have reserved but do not use.
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

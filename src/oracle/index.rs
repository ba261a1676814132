//! The index: an interval of 8 bytes for each tag decides most queries, and a
//! record of 8 bytes says what to do where intervals meet.
//!
//! Each rule says which cursor of a tag's walk comes next ([`Walks`]). A tag is one of
//! these:
//!
//! - *regular*: two regular tags of one root may alias iff one's cursor lies on
//!   the other's walk, which is one comparison of intervals;
//! - *irregular*: the rule's own tables decide;
//! - *unindexed*: the rule's definition decides;
//! - *rejected*: it may alias everything.
//!
//! The rule says which ([`Role`]). The intervals of all but regular tags meet
//! all others. An irregular tag then parts from most by sets of types, without a
//! branch on which of the two it is: of random pairs that is anybody's guess.

use crate::forest::Span;
use crate::table::HashMap;
use crate::type_set::{LargeTypeSet, TypeSet};
use crate::walks::Walks;

/// A tag's role in the index: how it is decided on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Rejected,
    /// Its root's number.
    Unindexed(u32),
    /// Its root's number and its cursor.
    Regular(u32, u32),
    /// Its root's number, its cursor, and its number among the irregular tags.
    Irregular(u32, u32, u32),
}

/// A tag in the index.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// The number of the root above the access type, and flags.
    root: u32,
    /// A regular tag's cursor, or that of an unindexed one that covers others; an
    /// irregular tag's number.
    link: u32,
}

/// The interval of a tag that is not regular.
const ALL: Span = Span { start: 0, end: u32::MAX };

/// The bits of [`Record::root`] that number the root; all are set for a rejected
/// tag.
const ROOT: u32 = COVERS - 1;
/// An unindexed tag that may alias all tags whose walk comes to its cursor.
const COVERS: u32 = 1 << 28;
/// The tag's cursor has no number of its own in the forest.
const UNNUMBERED: u32 = 1 << 29;
const IRREGULAR: u32 = 1 << IRREGULAR_BIT;
const IRREGULAR_BIT: u32 = 30;
const UNINDEXED: u32 = 1 << 31;

/// No cursor.
const NONE: u32 = u32::MAX;

/// Whether each begins before the other's end. Of random pairs nearly all are apart,
/// and which of the two lies first is anybody's guess: one comparison for both, of the
/// sign that two differences share, leaves no branch between.
#[inline]
fn meet(x: &Span, y: &Span) -> bool {
    let before = |start: u32, end: u32| i64::from(start) - i64::from(end);
    before(x.start, y.end) & before(y.start, x.end) < 0
}

/// What is known of an irregular tag.
#[derive(Clone, Copy, Debug)]
struct Irregular {
    cursor: u32,
    /// Its base type, where it may alias tags for their walks coming to it; else
    /// more than a walk has.
    met: TypeSet,
    /// The base types of other tags that it may alias.
    bases: LargeTypeSet,
}

#[derive(Clone, Default, Debug)]
pub(super) struct Index {
    /// The cursors of tags.
    pub(super) walks: Walks,
    spans: Vec<Span>,
    records: Vec<Record>,
    /// What stands for a tag that is none, and the irregular tags.
    irregular: Vec<Irregular>,
    /// Numbers of the roots of tags.
    roots: HashMap<u32, u32>,
    /// Whether there are several roots.
    mixed: bool,
    /// Tags whose intervals are set.
    indexed: usize,
    /// Tags that are irregular or unindexed.
    others: usize,
}

impl Index {
    /// Number of tags in the index.
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns how a tag is indexed; one not added yet is rejected.
    pub(super) fn role(&self, tag: usize) -> Role {
        let Some(&Record { root, link }) = self.records.get(tag) else { return Role::Rejected };
        let number = root & ROOT;
        match root {
            ROOT => Role::Rejected,
            _ if root & UNINDEXED != 0 => Role::Unindexed(number),
            _ if root & IRREGULAR != 0 => {
                Role::Irregular(number, self.irregular[link as usize + 1].cursor, link)
            }
            _ => Role::Regular(number, link),
        }
    }

    /// Returns whether two tags may alias; `None` leaves it to the rule.
    pub(super) fn decide(&self, a: u32, b: u32) -> Option<bool> {
        let (Some(x), Some(y)) = (self.spans.get(a as usize), self.spans.get(b as usize)) else {
            return Some(true);
        };
        let meet = meet(x, y);
        if !meet && !self.mixed {
            return Some(false);
        }
        self.look_up(a as usize, b as usize, meet)
    }

    /// Whether the intervals of two tags part.
    #[inline]
    pub(super) fn part(&self, a: u32, b: u32) -> bool {
        let (Some(x), Some(y)) = (self.spans.get(a as usize), self.spans.get(b as usize)) else {
            return false;
        };
        !meet(x, y)
    }

    fn look_up(&self, a: usize, b: usize, meet: bool) -> Option<bool> {
        let (Some(x), Some(y)) = (self.records.get(a), self.records.get(b)) else {
            return Some(true);
        };
        if (x.root ^ y.root) & ROOT != 0 {
            return Some(true);
        }
        if (x.root | y.root) & (IRREGULAR | UNINDEXED) != 0 {
            return self.look_up_irregular(x, y);
        }
        if meet && x.root & y.root & UNNUMBERED != 0 {
            return Some(self.walks.forest.related(x.link, y.link));
        }
        Some(meet)
    }

    /// The same where not both are regular, and neither is rejected.
    #[inline(never)]
    fn look_up_irregular(&self, x: &Record, y: &Record) -> Option<bool> {
        if (x.root | y.root) & UNINDEXED != 0 {
            return (self.covers(x, y) || self.covers(y, x)).then_some(true);
        }
        let side = |record: &Record| {
            let mask = (record.root >> IRREGULAR_BIT & 1).wrapping_neg();
            let found = &self.irregular[(record.link.wrapping_add(1) & mask) as usize];
            (found, found.cursor & mask | record.link & !mask)
        };
        let ((x, cursor_x), (y, cursor_y)) = (side(x), side(y));
        let may = x.bases.may_have(self.walks.ty(cursor_y))
            | y.bases.may_have(self.walks.ty(cursor_x))
            | self.walks.types_on_walk(cursor_y).may_have_all(x.met)
            | self.walks.types_on_walk(cursor_x).may_have_all(y.met);
        if may { None } else { Some(false) }
    }

    /// Whether an unindexed tag covers a regular one.
    fn covers(&self, upper: &Record, lower: &Record) -> bool {
        upper.root & COVERS != 0
            && lower.root & (IRREGULAR | UNINDEXED) == 0
            && self.walks.forest.is_ancestor(upper.link, lower.link)
    }

    /// Adds the next tag as one that may alias everything.
    pub(super) fn push_rejected(&mut self) {
        self.spans.push(ALL);
        self.records.push(Record { root: ROOT, link: NONE });
    }

    /// Adds the next tag as one on which the definition decides, but for those
    /// whose walk comes to some cursor: it may alias these.
    pub(super) fn push_unindexed(&mut self, root: u32, covers: Option<u32>) {
        let flags = covers.map_or(UNINDEXED, |_| UNINDEXED | COVERS);
        self.push_record(root, flags, covers.unwrap_or(NONE));
    }

    /// Adds the next tag, a regular one.
    pub(super) fn push_regular(&mut self, root: u32, cursor: u32) {
        self.push_record(root, 0, cursor);
    }

    /// Adds the next tag, the next irregular one. It may alias tags of these base
    /// types, and if it `is_met`, tags whose walk comes to its own base type.
    pub(super) fn push_irregular(
        &mut self,
        root: u32,
        cursor: u32,
        bases: LargeTypeSet,
        is_met: bool,
    ) {
        if self.irregular.is_empty() {
            let bases = LargeTypeSet::default();
            self.irregular.push(Irregular { cursor: 0, met: TypeSet::ALL, bases });
        }
        self.push_record(root, IRREGULAR, self.irregular.len() as u32 - 1);
        let met = if is_met { TypeSet::of(self.walks.ty(cursor)) } else { TypeSet::ALL };
        self.irregular.push(Irregular { cursor, met, bases });
    }

    fn push_record(&mut self, root: u32, flags: u32, link: u32) {
        let number = self.number(root);
        self.others += usize::from(flags != 0);
        self.spans.push(ALL);
        self.records.push(Record { root: number | flags, link });
    }

    /// Returns a root's number. There are fewer than 2^28 - 1: a graph of so
    /// many roots, with a type and a tag for each, is larger than node ids reach.
    fn number(&mut self, root: u32) -> u32 {
        let next = self.roots.len() as u32;
        let number = *self.roots.entry(root).or_insert(next);
        self.mixed = self.roots.len() > 1;
        number
    }

    /// Returns whether tags stand under several roots.
    pub(super) fn has_several_roots(&self) -> bool {
        self.mixed
    }

    /// Gives the tags added since the last call their intervals, after which
    /// they may be asked about; all tags, where the forest was numbered anew.
    pub(super) fn catch_up(&mut self) {
        if self.walks.forest.catch_up() {
            self.indexed = 0;
        }
        for (span, record) in self.spans.iter_mut().zip(&mut self.records).skip(self.indexed) {
            if record.root & (IRREGULAR | UNINDEXED) != 0 || record.link == NONE {
                continue;
            }
            *span = self.walks.forest.span(record.link);
            record.root &= !UNNUMBERED;
            if self.walks.forest.is_unnumbered(record.link) {
                record.root |= UNNUMBERED;
            }
        }
        self.indexed = self.records.len();
    }

    /// Whether intervals decide on all pairs: those that meet alias.
    pub(super) fn is_exact(&self) -> bool {
        self.others == 0 && !self.mixed && !self.walks.forest.has_unnumbered()
    }

    /// Number of tags that are irregular or unindexed.
    pub(super) fn others(&self) -> usize {
        self.others
    }

    /// Numbers all cursors, and gives back memory that the tables hold to grow
    /// into.
    pub(super) fn finish(&mut self) {
        if self.walks.forest.has_unnumbered() {
            self.walks.forest.number();
            self.indexed = 0;
            self.catch_up();
        }
        self.walks.shrink_to_fit();
        self.spans.shrink_to_fit();
        self.records.shrink_to_fit();
        self.irregular.shrink_to_fit();
    }
}

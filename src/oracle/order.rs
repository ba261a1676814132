//! The order of tags in which answers to many pairs lie in ranges.
//!
//! With the regular tags in the order of their cursors' numbers, those that one
//! of them may alias lie in a few ranges: the tags below it, the tags at each
//! cursor above it, and the tags of other roots. What is not regular is asked
//! pair by pair, but not about the base types that its filter keeps out.

use std::borrow::Borrow;
use std::ops::Range;

use super::Oracle;
use super::compiled::Place;
use super::filter::Filter;
use super::forest::Span;
use crate::graph::{Graph, TagId};
use crate::table::HashMap;

/// A list of answers, 64 to a word.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub(super) fn new(len: usize) -> Bits {
        Bits(vec![0; len.div_ceil(64)])
    }

    pub(super) fn bytes(&self) -> usize {
        8 * self.0.len()
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 != 0
    }

    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn set(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }
}

/// Sets a range of bits.
fn fill(words: &mut [u64], range: Range<usize>) {
    let Range { start, end } = range;
    if start >= end {
        return;
    }
    let (first, last) = (start / 64, (end - 1) / 64);
    let (from, to) = (u64::MAX << (start % 64), u64::MAX >> (63 - (end - 1) % 64));
    if first == last {
        words[first] |= from & to;
        return;
    }
    words[first] |= from;
    words[first + 1..last].fill(u64::MAX);
    words[last] |= to;
}

/// The tags at one cursor, in terms of positions.
pub(super) struct Group {
    /// The tags at the cursor.
    pub(super) own: Range<usize>,
    /// Past the tags at the cursors below.
    pub(super) below: usize,
    /// The group next above.
    pub(super) above: Option<usize>,
    /// The tags of its root.
    pub(super) root: Range<usize>,
}

/// The positions that one which is not regular may alias, beside those of tags
/// that may alias all others.
pub(super) struct Row {
    /// The regular positions of its root: it may alias those of all others.
    pub(super) root: Range<usize>,
    set: Set,
}

/// Positions below a length.
enum Set {
    Few(Vec<u32>),
    Many(Bits),
}

impl Row {
    fn new(root: Range<usize>) -> Row {
        Row { root, set: Set::Few(Vec::new()) }
    }

    /// Adds a position that is not there.
    fn add(&mut self, position: u32, len: usize) {
        match &mut self.set {
            Set::Few(list) if list.len() < len / 32 => list.push(position),
            Set::Few(list) => {
                let mut bits = Bits::new(len);
                list.iter().for_each(|&position| bits.set(position as usize));
                bits.set(position as usize);
                self.set = Set::Many(bits);
            }
            Set::Many(bits) => bits.set(position as usize),
        }
    }

    /// Returns where the regular positions of its root begin, if there are any.
    pub(super) fn root(&self) -> Option<usize> {
        (!self.root.is_empty()).then_some(self.root.start)
    }

    /// Calls back with each position that is no regular one of another root.
    pub(super) fn for_each(&self, mut found: impl FnMut(usize)) {
        match &self.set {
            Set::Few(list) => list.iter().for_each(|&position| found(position as usize)),
            Set::Many(bits) => {
                for (at, &word) in bits.0.iter().enumerate() {
                    let mut rest = word;
                    while rest != 0 {
                        found(64 * at + rest.trailing_zeros() as usize);
                        rest &= rest - 1;
                    }
                }
            }
        }
    }
}

/// The order of a list's tags in which answers lie in ranges: regular tags, tags
/// that may alias all others, and the rest.
pub(super) struct Order {
    /// Place in the list of each position.
    tags: Vec<u32>,
    /// Of each regular position.
    groups: Vec<u32>,
    table: Vec<Group>,
    /// The positions of tags that may alias all others.
    rejected: Range<usize>,
    /// What each position after those may alias.
    others: Vec<Row>,
}

/// The regular positions of a root.
struct OfRoot {
    range: Range<usize>,
    /// Where those with each bit in a filter end in `sorted`, after 0; empty if
    /// they are few.
    ends: Vec<usize>,
    /// The positions, by what their base types pass.
    sorted: Vec<u32>,
}

impl OfRoot {
    fn new(range: Range<usize>, place: impl Fn(usize) -> Place) -> OfRoot {
        if range.len() < Filter::PLACES {
            return OfRoot {
                sorted: range.clone().map(|at| at as u32).collect(),
                range,
                ends: Vec::new(),
            };
        }
        let key = |position| match place(position) {
            Place::Regular(_, _, key) => key,
            _ => 0,
        };
        let mut ends = vec![0; Filter::PLACES + 1];
        range.clone().for_each(|position| ends[key(position) + 1] += 1);
        (1..ends.len()).for_each(|key| ends[key] += ends[key - 1]);
        let (mut free, mut sorted) = (ends.clone(), vec![0; range.len()]);
        for position in range.clone() {
            let at = &mut free[key(position)];
            sorted[*at] = position as u32;
            *at += 1;
        }
        OfRoot { range, ends, sorted }
    }

    /// Lists positions, with all whose base types pass the filter.
    fn passing(&self, filter: Filter) -> impl Iterator<Item = u32> + '_ {
        let all = if self.ends.is_empty() { &self.sorted[..] } else { &[] };
        let ends = self.ends.windows(2).enumerate();
        let passing = ends.filter(move |&(place, _)| filter.has(place));
        let passing = passing.flat_map(|(_, ends)| &self.sorted[ends[0]..ends[1]]);
        all.iter().chain(passing).copied()
    }
}

/// What a position may alias.
pub(super) enum At<'o> {
    /// Regular positions of the same root whose intervals meet this one, and all
    /// of other roots.
    Interval {
        root: usize,
        start: usize,
        end: usize,
    },
    Anything,
    Listed(&'o Row),
}

impl Order {
    pub(super) fn new<G: Borrow<Graph>>(oracle: &Oracle<G>, list: &[TagId]) -> Order {
        const REJECTED: u32 = u32::MAX - 1;
        const OTHER: u32 = u32::MAX;
        let places = oracle.compiled.places(list.len().saturating_mul(list.len()));
        let place = |index: u32| {
            let tag = list[index as usize];
            if tag.stamp == oracle.stamp { places(tag.index()) } else { Place::Rejected }
        };
        // By root and number, which no two cursors share.
        let mut sorted: Vec<(u64, Span, u32)> = (0..list.len() as u32)
            .map(|index| {
                let (root, span) = match place(index) {
                    Place::Regular(root, span, _) => (root, span),
                    Place::Rejected => (REJECTED, Span { start: 0, end: 0 }),
                    Place::Other(_) => (OTHER, Span { start: 0, end: 0 }),
                };
                (u64::from(root) << 32 | u64::from(span.start), span, index)
            })
            .collect();
        sorted.sort_unstable_by_key(|&(key, _, index)| (key, index));
        let before = |root: u32| sorted.partition_point(|&(key, ..)| key < u64::from(root) << 32);
        let (regular, rejected) = (before(REJECTED), before(OTHER));
        let tags = sorted.iter().map(|&(.., index)| index).collect();
        let (groups, table, others) = (Vec::new(), Vec::new(), Vec::new());
        let mut order = Order { tags, groups, table, rejected: regular..rejected, others };
        order.group(&sorted[..regular]);
        order.ask(oracle, list, place);
        order
    }

    /// Answers for the positions that ranges say nothing about.
    fn ask<G: Borrow<Graph>>(
        &mut self,
        oracle: &Oracle<G>,
        list: &[TagId],
        place: impl Fn(u32) -> Place,
    ) {
        let others = self.rejected.end..self.len();
        if others.is_empty() {
            return;
        }
        let tag = |position: usize| list[self.tags[position] as usize];
        let mut of_roots: HashMap<u32, OfRoot> = HashMap::new();
        for position in others.clone() {
            if let Place::Other(root) = place(self.tags[position]) {
                let at = |position: usize| place(self.tags[position]);
                let of_root = || OfRoot::new(self.root_range(root, &place), at);
                of_roots.entry(root).or_insert_with(of_root);
            }
        }
        let mut rows: Vec<Row> = Vec::with_capacity(others.len());
        for position in others.clone() {
            let Place::Other(root) = place(self.tags[position]) else { continue };
            let (a, of_root) = (tag(position), &of_roots[&root]);
            let mut row = Row::new(of_root.range.clone());
            for other in of_root.passing(oracle.compiled.filter(a.index())) {
                if oracle.may_alias(a, tag(other as usize)) {
                    row.add(other, self.len());
                }
            }
            for (other, above) in (others.start..).zip(&mut rows) {
                if oracle.may_alias(a, tag(other)) {
                    row.add(other as u32, self.len());
                    above.add(position as u32, self.len());
                }
            }
            row.add(position as u32, self.len());
            rows.push(row);
        }
        self.others = rows;
    }

    /// Returns the regular positions of a root.
    fn root_range(&self, root: u32, place: impl Fn(u32) -> Place) -> Range<usize> {
        let tags = &self.tags[..self.regular()];
        let root_of = |&tag: &u32| match place(tag) {
            Place::Regular(root, ..) => root,
            _ => u32::MAX,
        };
        let from = tags.partition_point(|tag| root_of(tag) < root);
        from..tags.partition_point(|tag| root_of(tag) <= root)
    }

    fn group(&mut self, places: &[(u64, Span, u32)]) {
        let mut open: Vec<usize> = Vec::new();
        let close = |table: &mut Vec<Group>, group: usize, at: usize| table[group].below = at;
        let mut at = 0;
        for of_root in places.chunk_by(|a, b| a.0 >> 32 == b.0 >> 32) {
            let root = at..at + of_root.len();
            for here in of_root.chunk_by(|a, b| a.0 == b.0) {
                let (_, span, _) = here[0];
                while let Some(&last) = open.last()
                    && places[self.table[last].own.start].1.end <= span.start
                {
                    close(&mut self.table, last, at);
                    open.pop();
                }
                let above = open.last().copied();
                open.push(self.table.len());
                self.groups.extend(here.iter().map(|_| self.table.len() as u32));
                let own = at..at + here.len();
                at = own.end;
                self.table.push(Group { own, below: at, above, root: root.clone() });
            }
            while let Some(last) = open.pop() {
                close(&mut self.table, last, at);
            }
        }
    }

    pub(super) fn groups(&self) -> &[Group] {
        &self.table
    }

    /// Returns the group of a regular position.
    pub(super) fn group_of(&self, position: usize) -> Option<usize> {
        self.groups.get(position).map(|&group| group as usize)
    }

    /// Returns whether one group is the other or above it.
    pub(super) fn is_related(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.table[a], &self.table[b]);
        a.own.start < b.below && b.own.start < a.below
    }

    /// Returns the lists of the positions that are neither regular nor alias
    /// everything, in the order of these.
    pub(super) fn lists(&self) -> &[Row] {
        &self.others
    }

    /// Returns the positions that have lists.
    pub(super) fn listed(&self) -> Range<usize> {
        self.rejected.end..self.len()
    }

    /// Returns the positions that may alias everything.
    pub(super) fn rejected(&self) -> Range<usize> {
        self.rejected.clone()
    }

    /// The regular positions of all other roots.
    fn outside(&self, root: &Range<usize>) -> [Range<usize>; 2] {
        [0..root.start, root.end..self.regular()]
    }

    /// Returns the number of regular positions, which come first.
    pub(super) fn regular(&self) -> usize {
        self.groups.len()
    }

    pub(super) fn len(&self) -> usize {
        self.tags.len()
    }

    /// Calls back with each range of regular positions that a regular position
    /// may alias.
    fn ranges(&self, position: usize, mut found: impl FnMut(Range<usize>)) {
        let group = &self.table[self.groups[position] as usize];
        self.outside(&group.root).into_iter().for_each(&mut found);
        found(group.own.start..group.below);
        let mut above = group.above;
        while let Some(next) = above.map(|above| &self.table[above]) {
            found(next.own.clone());
            above = next.above;
        }
    }

    /// Sets the bits of each position's row, of so many words, and returns them.
    pub(super) fn rows(&self, stride: usize) -> Bits {
        let mut rows = Bits::new(64 * stride * self.len());
        for (position, words) in rows.0.chunks_exact_mut(stride.max(1)).enumerate() {
            if self.rejected.contains(&position) {
                fill(words, 0..self.len());
                continue;
            }
            fill(words, self.rejected.clone());
            if position < self.regular() {
                self.ranges(position, |range| fill(words, range));
            }
        }
        for (position, row) in (self.rejected.end..).zip(&self.others) {
            let mut both = |column| {
                rows.set(64 * stride * position + column);
                rows.set(64 * stride * column + position);
            };
            row.for_each(&mut both);
            self.outside(&row.root).into_iter().flatten().for_each(both);
        }
        rows
    }

    /// Returns the place in the list of a position.
    pub(super) fn tag(&self, position: usize) -> usize {
        self.tags[position] as usize
    }

    /// Returns what a position may alias.
    pub(super) fn at(&self, position: usize) -> At<'_> {
        if let Some(&group) = self.groups.get(position) {
            let Group { own, below, root, .. } = &self.table[group as usize];
            return At::Interval { root: root.start, start: own.start, end: *below };
        }
        match position.checked_sub(self.rejected.end) {
            Some(other) => At::Listed(&self.others[other]),
            None => At::Anything,
        }
    }

    /// Returns each tag's position.
    pub(super) fn positions(&self) -> Vec<u32> {
        let mut positions = vec![0; self.len()];
        for (position, &tag) in self.tags.iter().enumerate() {
            positions[tag as usize] = position as u32;
        }
        positions
    }
}

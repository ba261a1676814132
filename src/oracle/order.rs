//! The order of tags in which answers to many pairs lie in ranges.
//!
//! With the regular tags in the order of their cursors' numbers, those that one
//! of them may alias lie in a few ranges: the tags below it, the tags at each
//! cursor above it, and the tags of other roots. What is not regular is asked
//! pair by pair, but not about the base types that its filter keeps out.

use std::borrow::Borrow;
use std::hash::BuildHasher;
use std::ops::Range;

use super::Oracle;
use super::compiled::Place;
use super::filter::Filter;
use crate::graph::{Graph, TagId};
use crate::table::{DefaultHashBuilder, HashMap};

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
struct Group {
    /// The tags at the cursor.
    own: Range<usize>,
    /// Past the tags at the cursors below.
    below: usize,
    /// The group next above.
    above: Option<usize>,
    /// The tags of its root.
    root: Range<usize>,
}

/// The positions that one may alias.
pub(super) enum Row {
    /// Listed, in ascending order.
    Few(Vec<u32>),
    Many(Bits),
}

impl Row {
    fn new(mut list: Vec<u32>, len: usize) -> Row {
        if list.len() <= len / 32 {
            list.sort_unstable();
            return Row::Few(list);
        }
        let mut bits = Bits::new(len);
        list.into_iter().for_each(|position| bits.set(position as usize));
        Row::Many(bits)
    }

    pub(super) fn for_each(&self, mut found: impl FnMut(usize)) {
        match self {
            Row::Few(list) => list.iter().for_each(|&position| found(position as usize)),
            Row::Many(bits) => {
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
    /// What each position after those may alias beside.
    others: Vec<Row>,
}

/// What a position may alias.
pub(super) enum At<'o> {
    /// Positions of the same root whose intervals meet this one, and all of
    /// other roots.
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
        let key = |&index: &u32| match place(index) {
            Place::Regular(root, span, _) => (root, span.start, span.end),
            Place::Rejected => (REJECTED, 0, 0),
            Place::Other(_) => (OTHER, 0, 0),
        };
        let mut tags: Vec<u32> = (0..list.len() as u32).collect();
        tags.sort_by_cached_key(key);
        let keys: Vec<_> = tags.iter().map(key).collect();
        let regular = keys.partition_point(|&(root, ..)| root < REJECTED);
        let rejected = regular..keys.partition_point(|&(root, ..)| root < OTHER);
        let (groups, table, others) = (Vec::new(), Vec::new(), Vec::new());
        let mut order = Order { tags, groups, table, rejected, others };
        order.group(&keys[..regular]);
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
        // The regular positions of each root, by what their base types pass.
        let mut by_base: HashMap<u32, Vec<Vec<u32>>> = HashMap::new();
        for position in 0..self.regular() {
            if let Place::Regular(root, _, base) = place(self.tags[position]) {
                let places = || vec![Vec::new(); Filter::PLACES];
                let of_root = by_base.entry(root).or_insert_with(places);
                of_root[Filter::place(base)].push(position as u32);
            }
        }
        let mut rows: Vec<Vec<u32>> = others.clone().map(|_| Vec::new()).collect();
        for position in others.clone() {
            let a = tag(position);
            let mut row = Vec::new();
            let Place::Other(root) = place(self.tags[position]) else { continue };
            let filter = oracle.compiled.filter(a.index());
            for (&of_root, places) in &by_base {
                let apart = of_root != root;
                for (place, others) in places.iter().enumerate() {
                    let may = |&other: &u32| apart || oracle.may_alias(a, tag(other as usize));
                    if apart || filter.has(place) {
                        row.extend(others.iter().copied().filter(may));
                    }
                }
            }
            for other in others.start..position {
                if oracle.may_alias(a, tag(other)) {
                    row.push(other as u32);
                    rows[other - others.start].push(position as u32);
                }
            }
            row.push(position as u32);
            rows[position - others.start] = row;
        }
        self.others = rows.into_iter().map(|row| Row::new(row, self.tags.len())).collect();
    }

    fn group(&mut self, places: &[(u32, u32, u32)]) {
        let mut open: Vec<usize> = Vec::new();
        let close = |table: &mut Vec<Group>, group: usize, at: usize| table[group].below = at;
        let mut at = 0;
        for of_root in places.chunk_by(|a, b| a.0 == b.0) {
            let root = at..at + of_root.len();
            for here in of_root.chunk_by(|a, b| a.1 == b.1) {
                let (_, start, _) = here[0];
                while let Some(&last) = open.last()
                    && places[self.table[last].own.start].2 <= start
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

    fn regular(&self) -> usize {
        self.groups.len()
    }

    pub(super) fn len(&self) -> usize {
        self.tags.len()
    }

    /// Calls back with each range of regular positions that a regular position
    /// may alias.
    fn ranges(&self, position: usize, mut found: impl FnMut(Range<usize>)) {
        let group = &self.table[self.groups[position] as usize];
        found(0..group.root.start);
        found(group.root.end..self.regular());
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
            row.for_each(|column| {
                rows.set(64 * stride * position + column);
                rows.set(64 * stride * column + position);
            });
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

    /// Returns the sum of the keys of what each position may alias.
    pub(super) fn fingerprints(&self) -> Vec<u128> {
        let hashers = [DefaultHashBuilder::default(), DefaultHashBuilder::default()];
        let key = |position: usize| {
            let [high, low] = hashers.each_ref().map(|hasher| hasher.hash_one(position));
            u128::from(high) << 64 | u128::from(low)
        };
        // Sums of the keys before each position.
        let mut sums = vec![0_u128];
        for position in 0..self.regular() {
            sums.push(sums[position].wrapping_add(key(position)));
        }
        let mut above = Vec::with_capacity(self.table.len());
        let sum = |range: &Range<usize>| sums[range.end].wrapping_sub(sums[range.start]);
        for group in &self.table {
            // A group comes after the one above it.
            let of_above = |above_group: usize| {
                let of_above: u128 = above[above_group];
                of_above.wrapping_add(sum(&self.table[above_group].own))
            };
            above.push(group.above.map_or(0, of_above));
        }
        let mut prints: Vec<u128> = (0..self.regular())
            .map(|position| {
                let group = self.groups[position] as usize;
                let Group { own, below, root, .. } = &self.table[group];
                let others = sum(&(0..self.regular())).wrapping_sub(sum(root));
                above[group].wrapping_add(sum(&(own.start..*below))).wrapping_add(others)
            })
            .collect();
        let total = |range: Range<usize>| range.map(key).fold(0, u128::wrapping_add);
        let of_rejected = total(self.rejected.clone());
        prints.iter_mut().for_each(|print| *print = print.wrapping_add(of_rejected));
        let all = total(0..self.len());
        prints.extend(self.rejected.clone().map(|_| all));
        for (column, row) in (self.rejected.end..).zip(&self.others) {
            let mut print = of_rejected;
            row.for_each(|position| {
                print = print.wrapping_add(key(position));
                if position < self.regular() {
                    prints[position] = prints[position].wrapping_add(key(column));
                }
            });
            prints.push(print);
        }
        prints
    }
}

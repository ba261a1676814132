//! An order of tags in which the tags that one tag may alias form ranges.
//!
//! Each *regular* tag has a *cursor*, a node of a forest. Two regular tags may alias iff their
//! roots differ, or one cursor equals the other or is *above* it (an ancestor). If regular tags are
//! sorted by the preorder of their cursors, those that one of them may alias form a few ranges: the
//! tags at or below its cursor, the tags at each cursor above it, and the tags of other roots.
//! *Rejected* tags may alias everything. Other tags are *listed*: they are compared in pairs. A
//! position is called regular, rejected or listed, like the tag at it.

use std::borrow::Borrow;
use std::cell::Cell;
use std::ops::Range;

use fixedbitset::FixedBitSet;

use super::grow::Oracle;
use super::index::Role;
use super::rule::Candidates;
use super::types::{TypeIndex, Types};
use crate::forest::Span;
use crate::graph::{Graph, TagId};
use crate::table::IndexMap;
use crate::type_set::TypeSet;

/// The regular tags with the same cursor. Positions are those in an [`Order`].
pub(super) struct Group {
    /// The positions of the tags with this cursor.
    pub(super) own: Range<usize>,
    /// The position after the tags with this cursor or a cursor below it.
    pub(super) below: usize,
    /// The index of the group with the nearest cursor above this one.
    pub(super) above: Option<usize>,
    /// The positions of all regular tags with the same root.
    pub(super) root: Range<usize>,
}

/// For each base type that `asks` selects, lists the indices of the base types that may contain it
/// or be inside it, including itself. An unknown base type (`None`) may contain all.
fn near(types: &Types, bases: &[Option<TypeIndex>], asks: &FixedBitSet) -> Vec<Vec<u32>> {
    let mut near = vec![Vec::new(); bases.len()];
    let known = || (0_u32..).zip(bases).filter_map(|(at, base)| Some((at, (*base)?)));
    let mut pair = |a: u32, b: u32| {
        if asks.contains(a as usize) {
            near[a as usize].push(b);
        }
        if a != b && asks.contains(b as usize) {
            near[b as usize].push(a);
        }
    };
    // For each bit of a type set: the base types whose sets have this bit.
    let mut columns = vec![FixedBitSet::with_capacity(bases.len()); TypeSet::BITS];
    for (at, base) in known() {
        types.inside(base).ones().for_each(|bit| columns[bit].insert(at as usize));
    }
    let mut both = FixedBitSet::new();
    for (inner, base) in known() {
        let [x, y] = TypeSet::bits(base).map(|bit| &columns[bit as usize]);
        both.clone_from(x);
        both.intersect_with(y);
        if !asks.contains(inner as usize) {
            both.intersect_with(asks);
        }
        for outer in both.ones() {
            if bases[outer].is_some_and(|ty| types.may_hold(ty, base)) {
                pair(outer as u32, inner);
            }
        }
    }
    if let Some(unknown) = bases.iter().position(Option::is_none) {
        (0..bases.len() as u32).for_each(|other| pair(unknown as u32, other));
    }
    near
}

/// The positions that a listed tag may alias, except rejected ones.
pub(super) struct Row {
    /// The regular positions of the tag's root. `set` omits those of other roots: all may alias.
    pub(super) root: Range<usize>,
    set: Set,
}

/// A set of positions, as a list or as bits.
enum Set {
    Few(Vec<u32>),
    Many(FixedBitSet),
}

impl Row {
    /// Adds a position that is not in the set yet.
    fn add(&mut self, position: u32, len: usize) {
        match &mut self.set {
            Set::Few(list) if list.len() < len / 32 => list.push(position),
            Set::Few(list) => {
                let mut bits = FixedBitSet::with_capacity(len);
                bits.extend(list.iter().chain([&position]).map(|&position| position as usize));
                self.set = Set::Many(bits);
            }
            Set::Many(bits) => bits.insert(position as usize),
        }
    }

    pub(super) fn for_each(&self, mut found: impl FnMut(usize)) {
        match &self.set {
            Set::Few(list) => list.iter().for_each(|&position| found(position as usize)),
            Set::Many(bits) => bits.ones().for_each(found),
        }
    }
}

/// A list of tags in an order in which answers form ranges: regular tags, then rejected tags, then
/// listed tags.
pub(super) struct Order {
    /// For each position, the index of the tag in the original list.
    tags: Vec<u32>,
    /// For each regular position, the index of its group in `groups`.
    group_of: Vec<u32>,
    pub(super) groups: Vec<Group>,
    pub(super) rejected: Range<usize>,
    /// The row of each listed position.
    pub(super) lists: Vec<Row>,
}

/// The properties of a tag that determine its position.
#[derive(Clone, Copy)]
enum Standing {
    /// The tag's root and cursor, and the cursor's interval in preorder.
    Regular(u32, u32, Span),
    Rejected,
    /// The root of the tag.
    Listed(u32),
}

impl Order {
    /// Orders a list of tags. All searches share [`Oracle::steps_to_compare`] steps. When none are
    /// left, each pair that needs a search counts as aliasing.
    pub(super) fn new<G: Borrow<Graph>>(oracle: &Oracle<G>, list: &[TagId]) -> Order {
        let left = &Cell::new(oracle.steps_to_compare());
        Order::asking(oracle, list, left, |a, b| {
            let mut steps = left.get();
            let decided = oracle.index.decide(a.index, b.index);
            let may = decided.or_else(|| oracle.memo_or_definition(a.into(), b.into(), &mut steps));
            left.set(steps);
            may.unwrap_or(true)
        })
    }

    /// Like [`Order::new`], but calls `ask` to decide on pairs. Searches for the paths of a tag
    /// subtract their steps from `left`.
    pub(super) fn asking<G: Borrow<Graph>>(
        oracle: &Oracle<G>,
        list: &[TagId],
        left: &Cell<u64>,
        ask: impl Fn(TagId, TagId) -> bool,
    ) -> Order {
        const REJECTED: u32 = u32::MAX - 1;
        const LISTED: u32 = u32::MAX;
        let forest = &oracle.index.walks.forest;
        // If numbering all cursors may take longer than comparing a few pairs, regular tags are
        // listed, too.
        let pairs = list.len().saturating_mul(list.len());
        let worth = !forest.has_unnumbered() || pairs >= forest.len();
        let spans = worth.then(|| forest.spans());
        let standing = |&tag: &TagId| {
            let role = match tag.stamp == oracle.stamp {
                true => oracle.index.role(tag.index),
                false => Role::Rejected,
            };
            match (role, &spans) {
                (Role::Rejected, _) => Standing::Rejected,
                (Role::Regular(root, cursor), Some(spans)) => {
                    Standing::Regular(root, cursor, spans[cursor as usize])
                }
                (Role::Regular(root, _), None) => Standing::Listed(root),
                (Role::Other(root, _), _) => {
                    let mut steps = left.get();
                    let place = oracle.candidates(tag, &mut steps);
                    left.set(steps);
                    match place {
                        Candidates::Everything => Standing::Rejected,
                        Candidates::Base(_) | Candidates::Unknown => Standing::Listed(root),
                    }
                }
            }
        };
        let places: Vec<Standing> = list.iter().map(standing).collect();
        // Sort regular tags by root, and then by the start of their cursor's interval. Different
        // cursors have different starts.
        let key = |&index: &u32| match places[index as usize] {
            Standing::Regular(root, _, span) => (root, span.start, index),
            Standing::Rejected => (REJECTED, 0, index),
            Standing::Listed(_) => (LISTED, 0, index),
        };
        let mut tags: Vec<u32> = (0..list.len() as u32).collect();
        tags.sort_unstable_by_key(key);
        let before = |root: u32| tags.partition_point(|index| key(index).0 < root);
        let (regular, rejected) = (before(REJECTED), before(LISTED));
        let (group_of, groups, lists) = Default::default();
        let mut order = Order { tags, group_of, groups, rejected: regular..rejected, lists };
        order.group(&places);
        if rejected < list.len() {
            let tag = |position: usize| list[order.tags[position] as usize];
            let standing = |position: usize| places[order.tags[position] as usize];
            order.lists = order.by_pair(oracle, tag, standing, ask);
        }
        order
    }

    fn by_pair<G: Borrow<Graph>>(
        &self,
        oracle: &Oracle<G>,
        tag: impl Fn(usize) -> TagId,
        standing: impl Fn(usize) -> Standing,
        ask: impl Fn(TagId, TagId) -> bool,
    ) -> Vec<Row> {
        let (listed, len) = (self.listed(), self.len());
        let base = |position: usize| oracle.index.base(tag(position).index);
        let root = |position: usize| match standing(position) {
            Standing::Regular(root, ..) | Standing::Listed(root) => Some(root),
            Standing::Rejected => None,
        };
        let mut by_base = IndexMap::<Option<u32>, Vec<usize>>::default();
        for position in (0..self.regular()).chain(listed.clone()) {
            by_base.entry(base(position)).or_default().push(position);
        }
        let own = |position| by_base.get_index_of(&base(position));
        let bases: Vec<Option<u32>> = by_base.keys().copied().collect();
        let mut asks = FixedBitSet::with_capacity(bases.len());
        asks.extend(listed.clone().filter_map(own));
        let near = near(&oracle.index.types, &bases, &asks);
        let mut rows: Vec<Row> = Vec::with_capacity(listed.len());
        for position in listed.clone() {
            let own_root = root(position);
            let from = self.groups.partition_point(|group| root(group.own.start) < own_root);
            let group = self.groups.get(from).filter(|group| root(group.own.start) == own_root);
            let range = group.map_or(0..0, |group| group.root.clone());
            let mut row = Row { root: range.clone(), set: Set::Few(vec![position as u32]) };
            let mut consider = |other: usize| {
                // The row's set does not contain regular tags of other roots.
                let implied = other < listed.start && !range.contains(&other);
                if implied || other >= position || !ask(tag(position), tag(other)) {
                    return;
                }
                row.add(other as u32, len);
                if let Some(other) = other.checked_sub(listed.start) {
                    rows[other].add(position as u32, len);
                }
            };
            for &at in own(position).into_iter().flat_map(|own| &near[own]) {
                let same = |&&other: &&usize| other < listed.start || root(other) == own_root;
                by_base[at as usize].iter().filter(same).for_each(|&other| consider(other));
            }
            if oracle.index.mixed {
                let of_other = |&other: &usize| root(other) != own_root;
                (listed.start..position).filter(of_other).for_each(&mut consider);
            }
            rows.push(row);
        }
        rows
    }

    fn group(&mut self, places: &[Standing]) {
        let place = |at: &u32| match places[*at as usize] {
            Standing::Regular(root, cursor, span) => (root, cursor, span),
            _ => (u32::MAX, u32::MAX, Span { start: 0, end: 0 }),
        };
        let mut open: Vec<usize> = Vec::new();
        let regular = &self.tags[..self.rejected.start];
        let mut at = 0;
        for of_root in regular.chunk_by(|a, b| place(a).0 == place(b).0) {
            let root = at..at + of_root.len();
            for here in of_root.chunk_by(|a, b| place(a).1 == place(b).1) {
                let (.., span) = place(&here[0]);
                while let Some(&last) = open.last()
                    && place(&regular[self.groups[last].own.start]).2.end <= span.start
                {
                    self.groups[last].below = at;
                    open.pop();
                }
                let above = open.last().copied();
                open.push(self.groups.len());
                self.group_of.extend(here.iter().map(|_| self.groups.len() as u32));
                let own = at..at + here.len();
                at = own.end;
                self.groups.push(Group { own, below: at, above, root: root.clone() });
            }
            for last in open.drain(..) {
                self.groups[last].below = at;
            }
        }
    }

    pub(super) fn group_of(&self, position: usize) -> Option<usize> {
        self.group_of.get(position).map(|&group| group as usize)
    }

    /// Returns whether two groups are the same or one is above the other.
    pub(super) fn is_related(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.groups[a], &self.groups[b]);
        a.own.start < b.below && b.own.start < a.below
    }

    pub(super) fn listed(&self) -> Range<usize> {
        self.rejected.end..self.len()
    }

    /// Returns the regular positions of all other roots.
    fn outside(&self, root: &Range<usize>) -> [Range<usize>; 2] {
        [0..root.start, root.end..self.regular()]
    }

    pub(super) fn regular(&self) -> usize {
        self.group_of.len()
    }

    pub(super) fn len(&self) -> usize {
        self.tags.len()
    }

    /// Calls `found` with ranges of regular positions that the regular tag at `position` may alias.
    fn ranges(&self, position: usize, mut found: impl FnMut(Range<usize>)) {
        let group = &self.groups[self.group_of[position] as usize];
        self.outside(&group.root).into_iter().for_each(&mut found);
        found(group.own.start..group.below);
        let mut above = group.above;
        while let Some(next) = above.map(|above| &self.groups[above]) {
            found(next.own.clone());
            above = next.above;
        }
    }

    /// Returns a bit matrix, row by row. Bit `b` of row `a` is set iff the positions may alias.
    pub(super) fn rows(&self) -> FixedBitSet {
        let len = self.len();
        let mut rows = FixedBitSet::with_capacity(len * len);
        for position in 0..len {
            let row = position * len;
            let mut fill =
                |range: Range<usize>| rows.insert_range(row + range.start..row + range.end);
            if self.rejected.contains(&position) {
                fill(0..len);
                continue;
            }
            fill(self.rejected.clone());
            if position < self.regular() {
                self.ranges(position, fill);
            }
        }
        for (position, row) in (self.rejected.end..).zip(&self.lists) {
            let mut both = |column| {
                rows.insert(position * len + column);
                rows.insert(column * len + position);
            };
            row.for_each(&mut both);
            self.outside(&row.root).into_iter().flatten().for_each(both);
        }
        rows
    }

    /// Calls `found` once for each pair of different positions that may alias.
    pub(super) fn each_pair(&self, mut found: impl FnMut(usize, usize)) {
        for (at, &group) in self.group_of.iter().enumerate() {
            let group = &self.groups[group as usize];
            let later = (at + 1..group.below).chain(group.root.end..self.regular());
            later.for_each(|other| found(at, other));
        }
        for at in self.rejected.clone() {
            (0..at).chain(self.listed()).for_each(|other| found(at, other));
        }
        for (at, row) in self.listed().zip(&self.lists) {
            // Two listed positions may be in each other's row. Report such a pair only once.
            row.for_each(|other| {
                if other < at {
                    found(at, other);
                }
            });
            self.outside(&row.root).into_iter().flatten().for_each(|other| found(at, other));
        }
    }

    /// Returns the index in the original list of the tag at a position.
    pub(super) fn tag(&self, position: usize) -> usize {
        self.tags[position] as usize
    }

    /// Returns the position of each tag of the original list.
    pub(super) fn positions(&self) -> Vec<u32> {
        let mut positions = vec![0; self.len()];
        for (position, &tag) in self.tags.iter().enumerate() {
            positions[tag as usize] = position as u32;
        }
        positions
    }
}

//! Places new classes in a forest whose nodes never move.
//!
//! A new class must be comparable to each class that it may alias. If the placed ones form a chain,
//! it may be placed below the lowest; else it goes to their nearest common node. New classes that
//! are connected and may be placed below one node make a forest of their own there, completed as if
//! they were alone. The first classes, in an empty forest, are of that kind: closed lowering is
//! growth from nothing.

use super::complete::Completer;
use super::forest::{Forest, Position};
use super::levels::levels;
use super::relation::Relation;
use super::why::Why;

/// Classes without a place yet, all under one root.
#[derive(Clone)]
pub(super) struct Newcomers<'r> {
    pub(super) relation: &'r Relation,
    /// For each class, the nodes of the classes that it may alias.
    pub(super) marks: Vec<Vec<u32>>,
    /// For each class, its place in an order from general to special.
    pub(super) rank: &'r [u32],
    /// For each class, the nodes where it may be placed.
    pub(super) seats: &'r [Seat],
    /// For each class, true if it gets no tag for lack of memory.
    pub(super) passed: &'r [bool],
    pub(super) group: u32,
}

/// The nodes at which a class may be placed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Seat {
    /// Any node: no other module reaches its memory, except by the tags above.
    Free,
    /// This node or one above, or no tag: other modules may tag the same memory.
    Shared(Option<u32>),
}

/// The places that classes were given.
pub(super) struct Placed {
    /// For each class its node, or `None` if it gets no tag.
    pub(super) nodes: Vec<Option<u32>>,
    pub(super) why: Vec<Why>,
}

/// The order in which new classes are placed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Strategy {
    /// Classes that may alias one another are placed together.
    Together,
    /// One by one, the most general first.
    OneByOne,
    /// Classes in private memory are placed together, then the others, which may be placed higher
    /// than they must.
    PrivateFirst,
}

impl Strategy {
    pub(super) const ALL: [Strategy; 3] =
        [Strategy::Together, Strategy::OneByOne, Strategy::PrivateFirst];
}

impl Forest {
    /// Places each new class, at most `depth` nodes from the top.
    pub(super) fn place(
        &mut self,
        mut new: Newcomers<'_>,
        depth: usize,
        strategy: Strategy,
    ) -> Placed {
        let len = new.relation.len();
        let mut placed = Placed { nodes: vec![None; len], why: vec![Why::Completed; len] };
        let passed = (0..len).filter(|&at| new.passed[at]);
        passed.for_each(|at| placed.why[at] = Why::TooManyPairs);
        let all: Vec<u32> = (0..len as u32).filter(|&at| !new.passed[at as usize]).collect();
        let complete = &mut Completer::new(new.relation, new.rank);
        match strategy {
            Strategy::Together => self.together(&all, &mut new, depth, complete, &mut placed),
            Strategy::OneByOne => self.place_one_by_one(all, new, depth, complete, &mut placed),
            Strategy::PrivateFirst => {
                let (first, rest): (Vec<u32>, Vec<u32>) =
                    all.into_iter().partition(|&class| new.seats[class as usize] == Seat::Free);
                self.together(&first, &mut new, depth, complete, &mut placed);
                let mut positions = vec![None; len];
                for class in first {
                    new.note(class, placed.nodes[class as usize], &rest, &mut positions);
                }
                self.together(&rest, &mut new, depth, complete, &mut placed);
            }
        }
        placed
    }

    /// The lowest place that is comparable to all of `marks`.
    fn seated(&self, seat: Seat, marks: &[u32]) -> Position {
        match seat {
            Seat::Free => self.position(marks),
            Seat::Shared(node) => Position::At(self.stand(node, marks)),
        }
    }

    /// Places a set of new classes, part by part.
    fn together(
        &mut self,
        set: &[u32],
        new: &mut Newcomers<'_>,
        depth: usize,
        complete: &mut Completer<'_>,
        placed: &mut Placed,
    ) {
        let mut positions: Vec<Option<Position>> = vec![None; new.relation.len()];
        let (shared, free): (Vec<u32>, Vec<u32>) =
            set.iter().partition(|&&class| new.seats[class as usize] != Seat::Free);
        for class in shared {
            if let Position::At(node) =
                self.seated(new.seats[class as usize], &new.marks[class as usize])
            {
                self.sit(class, node, new, placed);
            }
            new.note(class, placed.nodes[class as usize], set, &mut positions);
        }
        let mut work = complete.parts_of(&free);
        while let Some(part) = work.pop() {
            for &at in &part {
                let marks = &mut new.marks[at as usize];
                positions[at as usize].get_or_insert_with(|| {
                    marks.sort_unstable();
                    marks.dedup();
                    self.position(marks)
                });
            }
            // A class with only one possible place goes there first, and marks the place for
            // others.
            let at = |class: &&u32| matches!(positions[**class as usize], Some(Position::At(_)));
            if let Some(&class) = part.iter().find(at) {
                let Some(Position::At(node)) = positions[class as usize] else { continue };
                self.sit(class, node, new, placed);
                let node = placed.nodes[class as usize];
                new.note(class, node, &part, &mut positions);
                work.extend(complete.parts_of(&without(&part, class)));
                continue;
            }
            let anchors: Vec<u32> =
                part.iter().filter_map(|&at| anchor(positions[at as usize])).collect();
            if let Position::Below(anchor) = self.position(&anchors) {
                self.hang(&part, anchor, new, depth, complete, placed);
                continue;
            }
            // Some class must be placed higher than it would be alone: choose the most general.
            let near = |at: u32| {
                let near = new.relation.near_of(at as usize, &part);
                near.filter(|&other| part.binary_search(&(other as u32)).is_ok())
            };
            let count = |at: u32| {
                near(at).fold(0, |sum: u64, other| sum.saturating_add(new.relation.sizes[other]))
            };
            let top = part.iter().copied().max_by_key(|&at| (count(at), u32::MAX - at));
            let top = top.expect("a part has members");
            let mut marks = new.marks[top as usize].clone();
            marks.extend(near(top).filter_map(|other| anchor(positions[other])));
            match self.position(&marks) {
                Position::Below(above) => {
                    self.hang(&[top], above, new, depth, complete, placed);
                }
                Position::At(node) => self.sit(top, node, new, placed),
            }
            new.note(top, placed.nodes[top as usize], &part, &mut positions);
            work.extend(complete.parts_of(&without(&part, top)));
        }
    }

    fn place_one_by_one(
        &mut self,
        mut order: Vec<u32>,
        new: Newcomers<'_>,
        depth: usize,
        complete: &mut Completer<'_>,
        placed: &mut Placed,
    ) {
        order.sort_by_key(|&class| (new.rank[class as usize], class));
        for class in order {
            let mut marks = new.marks[class as usize].clone();
            let near = new.relation.near(class as usize);
            let near = near.filter(|&at| new.heeds(class as usize, at));
            marks.extend(near.filter_map(|at| placed.nodes[at]));
            match self.seated(new.seats[class as usize], &marks) {
                Position::Below(above) => {
                    self.hang(&[class], above, &new, depth, complete, placed);
                }
                Position::At(node) => self.sit(class, node, &new, placed),
            }
        }
    }

    /// Places a class at a node, or at the next one above that takes it.
    fn sit(&self, class: u32, node: Option<u32>, new: &Newcomers<'_>, placed: &mut Placed) {
        let node = self.usable(node);
        placed.nodes[class as usize] = node;
        placed.why[class as usize] = match (node, new.seats[class as usize]) {
            (None, _) => Why::NothingInCommon,
            (_, Seat::Free) => Why::CommonAncestor,
            (_, Seat::Shared(_)) => Why::Shared,
        };
    }

    /// Places a connected part below a node, as a forest of its own.
    fn hang(
        &mut self,
        part: &[u32],
        above: Option<u32>,
        new: &Newcomers<'_>,
        depth: usize,
        complete: &mut Completer<'_>,
        placed: &mut Placed,
    ) {
        let left = depth.saturating_sub(self.depth(above));
        if above.is_some() && (left == 0 || !self.takes_children(above)) {
            let node = self.usable(above);
            for &at in part {
                placed.nodes[at as usize] = node;
                placed.why[at as usize] = match (node, left) {
                    (None, _) => Why::NothingInCommon,
                    (_, 0) => Why::DepthLimit,
                    _ => Why::CommonAncestor,
                };
            }
            return;
        }
        let done = complete.complete(part);
        let mut nodes = Vec::new();
        for level in levels(&done.forest, &new.relation.sizes, left.max(1)) {
            let up = level.above.map_or(above, |up| Some(nodes[up]));
            let node = self.add(up, new.group);
            nodes.push(node);
            for member in level.members {
                placed.nodes[member as usize] = Some(node);
                placed.why[member as usize] =
                    if level.capped { Why::DepthLimit } else { Why::Completed };
            }
        }
    }
}

impl Newcomers<'_> {
    /// Returns whether the place of a class may affect another's: if both are shared, only if the
    /// seats are comparable.
    fn heeds(&self, class: usize, other: usize) -> bool {
        self.seats[class] == Seat::Free || self.seats[other] == Seat::Free
    }

    /// Tells the members of a part that a class may alias where it was placed.
    fn note(
        &mut self,
        class: u32,
        node: Option<u32>,
        part: &[u32],
        positions: &mut [Option<Position>],
    ) {
        let Some(node) = node else { return };
        for other in self.relation.near_of(class as usize, part) {
            if other != class as usize && self.heeds(other, class as usize) {
                self.marks[other].push(node);
                positions[other] = None;
            }
        }
    }
}

fn without(part: &[u32], class: u32) -> Vec<u32> {
    part.iter().copied().filter(|&at| at != class).collect()
}

fn anchor(position: Option<Position>) -> Option<u32> {
    match position {
        Some(Position::Below(node)) => node,
        _ => None,
    }
}

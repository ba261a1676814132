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
pub(super) struct NewClasses<'r> {
    pub(super) relation: &'r Relation,
    /// For each class, the nodes of the classes that it may alias.
    pub(super) marks: Vec<Vec<u32>>,
    /// For each class, its place in an order from general to special.
    pub(super) rank: &'r [u32],
    /// For each class, the nodes where it may be placed.
    pub(super) allowed: &'r [Allowed],
    /// For each class, true if it gets no tag for lack of memory.
    pub(super) passed: &'r [bool],
    pub(super) group: u32,
}

/// The nodes at which a class may be placed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Allowed {
    /// Any node: no other module reaches its memory, except by the tags above.
    Any,
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
        new: NewClasses<'_>,
        depth: usize,
        strategy: Strategy,
    ) -> Placed {
        let len = new.relation.len();
        let why = |&passed: &bool| if passed { Why::TooManyPairs } else { Why::Completed };
        let placed = Placed { nodes: vec![None; len], why: new.passed.iter().map(why).collect() };
        let all: Vec<u32> = (0..len as u32).filter(|&at| !new.passed[at as usize]).collect();
        let (completer, positions) = (Completer::new(new.relation, new.rank), vec![None; len]);
        let mut placing = Placing { forest: self, new, depth, completer, positions, placed };
        match strategy {
            Strategy::Together => placing.together(&all),
            Strategy::OneByOne => placing.one_by_one(all),
            Strategy::PrivateFirst => {
                let (first, rest): (Vec<u32>, Vec<u32>) =
                    all.into_iter().partition(|&class| placing.is_free(class));
                placing.together(&first);
                first.into_iter().for_each(|class| placing.note(class, &rest));
                placing.together(&rest);
            }
        }
        placing.placed
    }
}

/// New classes while they are being placed.
struct Placing<'f, 'r> {
    forest: &'f mut Forest,
    new: NewClasses<'r>,
    /// The most nodes from the top down to a place.
    depth: usize,
    completer: Completer<'r>,
    /// The place that each class could take by its marks; `None` if it is not known.
    positions: Vec<Option<Position>>,
    placed: Placed,
}

impl Placing<'_, '_> {
    fn is_free(&self, class: u32) -> bool {
        self.new.allowed[class as usize] == Allowed::Any
    }

    /// Returns the lowest allowed place of a class that is comparable to all of `marks`.
    fn position(&self, class: u32, marks: &[u32]) -> Position {
        match self.new.allowed[class as usize] {
            Allowed::Any => self.forest.position(marks),
            Allowed::Shared(node) => Position::At(self.forest.stand(node, marks)),
        }
    }

    /// Places a set of new classes, part by part.
    fn together(&mut self, set: &[u32]) {
        self.positions.fill(None);
        let (free, shared): (Vec<u32>, Vec<u32>) =
            set.iter().partition(|&&class| self.is_free(class));
        for class in shared {
            if let Position::At(node) = self.position(class, &self.new.marks[class as usize]) {
                self.put_at(class, node);
            }
            self.note(class, set);
        }
        let mut work = self.completer.parts_of(&free);
        while let Some(part) = work.pop() {
            for &class in &part {
                let marks = &mut self.new.marks[class as usize];
                self.positions[class as usize].get_or_insert_with(|| {
                    marks.sort_unstable();
                    marks.dedup();
                    self.forest.position(marks)
                });
            }
            // A class with only one possible place goes there first, and marks the place for
            // others.
            let only = part.iter().find_map(|&class| match self.positions[class as usize] {
                Some(Position::At(node)) => Some((class, node)),
                _ => None,
            });
            if let Some((class, node)) = only {
                self.put_at(class, node);
                self.note(class, &part);
                work.extend(self.completer.parts_of(&without(&part, class)));
                continue;
            }
            let anchors = part.iter().filter_map(|&class| anchor(self.positions[class as usize]));
            let anchors: Vec<u32> = anchors.collect();
            if let Position::Below(anchor) = self.forest.position(&anchors) {
                self.hang(&part, anchor);
                continue;
            }
            // Some class must be placed higher than it would be alone: choose the most general.
            let near = |class: u32| {
                let near = self.new.relation.near_of(class as usize, &part);
                near.filter(|&other| part.binary_search(&(other as u32)).is_ok())
            };
            let sizes = &self.new.relation.sizes;
            let weight = |class| near(class).fold(0, |sum, at| u64::saturating_add(sum, sizes[at]));
            let top = part.iter().copied().max_by_key(|&class| (weight(class), u32::MAX - class));
            let top = top.expect("a part has members");
            let mut marks = self.new.marks[top as usize].clone();
            marks.extend(near(top).filter_map(|other| anchor(self.positions[other])));
            self.put(top, self.forest.position(&marks));
            self.note(top, &part);
            work.extend(self.completer.parts_of(&without(&part, top)));
        }
    }

    fn one_by_one(&mut self, mut order: Vec<u32>) {
        order.sort_by_key(|&class| (self.new.rank[class as usize], class));
        for class in order {
            let mut marks = self.new.marks[class as usize].clone();
            let near = self.new.relation.near(class as usize);
            let near = near.filter(|&other| self.affects(class, other as u32));
            marks.extend(near.filter_map(|other| self.placed.nodes[other]));
            self.put(class, self.position(class, &marks));
        }
    }

    fn put(&mut self, class: u32, position: Position) {
        match position {
            Position::Below(above) => self.hang(&[class], above),
            Position::At(node) => self.put_at(class, node),
        }
    }

    /// Places a class at a node, or at the next one above that takes it.
    fn put_at(&mut self, class: u32, node: Option<u32>) {
        let node = self.forest.usable(node);
        let why = match node {
            None => Why::NothingInCommon,
            _ if self.is_free(class) => Why::CommonAncestor,
            _ => Why::Shared,
        };
        self.set(class, node, why);
    }

    fn set(&mut self, class: u32, node: Option<u32>, why: Why) {
        self.placed.nodes[class as usize] = node;
        self.placed.why[class as usize] = why;
    }

    /// Places a connected part below a node, as a forest of its own.
    fn hang(&mut self, part: &[u32], above: Option<u32>) {
        let left = self.depth.saturating_sub(self.forest.depth(above));
        if above.is_some() && (left == 0 || !self.forest.takes_children(above)) {
            let node = self.forest.usable(above);
            let why = match (node, left) {
                (None, _) => Why::NothingInCommon,
                (_, 0) => Why::DepthLimit,
                _ => Why::CommonAncestor,
            };
            return part.iter().for_each(|&class| self.set(class, node, why));
        }
        let done = self.completer.complete(part);
        let mut nodes = Vec::new();
        for level in levels(&done.forest, &self.new.relation.sizes, left.max(1)) {
            let up = level.above.map_or(above, |up| Some(nodes[up]));
            let node = self.forest.add(up, self.new.group, String::new());
            nodes.push(node);
            let why = if level.capped { Why::DepthLimit } else { Why::Completed };
            level.members.into_iter().for_each(|member| self.set(member, Some(node), why));
        }
    }

    /// Returns whether the place of one class may affect another's: if both are in shared memory,
    /// their allowed nodes are comparable already.
    fn affects(&self, class: u32, other: u32) -> bool {
        self.is_free(class) || self.is_free(other)
    }

    /// Tells the members of a part that a class may alias where the class was placed.
    fn note(&mut self, class: u32, part: &[u32]) {
        let Some(node) = self.placed.nodes[class as usize] else { return };
        for other in self.new.relation.near_of(class as usize, part) {
            if other != class as usize && self.affects(other as u32, class) {
                self.new.marks[other].push(node);
                self.positions[other] = None;
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

//! Places new classes (sets of tags to be lowered) in a forest whose existing nodes never change.
//!
//! Two nodes are comparable if one is an ancestor of the other. The node of a new class must be
//! comparable to the nodes of all classes that the new class may alias. If these nodes form a
//! chain, the class gets a new node below the lowest; otherwise it goes to their nearest common
//! ancestor. New classes that may alias each other, directly or through others, are a *part*. If a
//! part may be placed below one node, the classes form a forest of their own below that node.

use super::complete::Completer;
use super::forest::{Forest, Position};
use super::levels::levels;
use super::relation::Relation;
use super::why::Why;

/// Classes that have no node yet, all under one root.
#[derive(Clone)]
pub(super) struct NewClasses<'r> {
    pub(super) relation: &'r Relation,
    /// For each class, the nodes of the placed classes that it may alias.
    pub(super) marks: Vec<Vec<u32>>,
    /// For each class, its rank: a more general class has a lower rank.
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
    /// Any node: other modules access the memory only with tags that alias everything.
    Any,
    /// This node or an ancestor of it, or no tag: other modules may tag the same memory.
    Shared(Option<u32>),
}

pub(super) struct Placed {
    /// The node of each class, or `None` if the class gets no tag.
    pub(super) nodes: Vec<Option<u32>>,
    pub(super) why: Vec<Why>,
}

/// The order in which new classes are placed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Strategy {
    /// Classes that may alias each other are placed together.
    Together,
    /// Classes are placed one by one, the most general one first.
    OneByOne,
    /// Classes with [`Allowed::Any`] are placed first and together.
    PrivateFirst,
}

impl Strategy {
    pub(super) const ALL: [Strategy; 3] =
        [Strategy::Together, Strategy::OneByOne, Strategy::PrivateFirst];
}

impl Forest {
    /// Places the classes that may get tags. New nodes are at most `depth` nodes from the top.
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

struct Placing<'f, 'r> {
    forest: &'f mut Forest,
    new: NewClasses<'r>,
    /// The largest number of nodes from the top down to a new node.
    depth: usize,
    completer: Completer<'r>,
    /// The position that `marks` allow for each class, or `None` if it must be computed again.
    positions: Vec<Option<Position>>,
    placed: Placed,
}

impl Placing<'_, '_> {
    fn is_free(&self, class: u32) -> bool {
        self.new.allowed[class as usize] == Allowed::Any
    }

    /// Returns the lowest position that is allowed for a class and comparable to all of `marks`.
    fn position(&self, class: u32, marks: &[u32]) -> Position {
        match self.new.allowed[class as usize] {
            Allowed::Any => self.forest.position(marks),
            Allowed::Shared(node) => Position::At(self.forest.stand(node, marks)),
        }
    }

    /// Places new classes: first those in shared memory, then the parts of the others.
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
            // A class with only one possible node goes there first, and restricts the classes that
            // may alias it.
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
            // The class that is related to the most tags is placed first, perhaps higher than
            // it would be alone.
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

    /// Places a class at a node, or at the nearest ancestor that can hold tags.
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

    /// Places a part in new nodes below a node. If the node takes no children, or is too deep,
    /// places the part at the node or an ancestor.
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

    /// Returns whether the node of one class restricts the node of the other class. If both are in
    /// shared memory, their allowed nodes are comparable already.
    fn affects(&self, class: u32, other: u32) -> bool {
        self.is_free(class) || self.is_free(other)
    }

    /// Adds a class's node to the `marks` of classes that it may alias, at least of those in
    /// `part`.
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

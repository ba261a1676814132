//! A forest to which leaves can be added. Most tests for an ancestor take constant time.
//!
//! Each *numbered* node has an interval of preorder numbers that encloses the intervals of its
//! descendants, so one of two numbered nodes is an ancestor of the other iff their intervals
//! overlap. A node added after the last numbering is *unnumbered*: its interval is the first number
//! of its parent's interval, or a new number for a root. An unnumbered node is never an ancestor of
//! a numbered one, so the intervals decide all tests except those between unnumbered nodes that
//! share a number. Such a test climbs from one node through its ancestors. [`Forest::catch_up`]
//! renumbers all nodes when the unnumbered ones exceed 16 plus a quarter of the numbered ones, so
//! adding a node takes `O(1)` on average.
//!
//! Climbing follows jump pointers (Myers, "An applicative random-access stack", 1983): besides its
//! parent, each node points to an ancestor chosen so that climbing n levels takes `O(log n)` steps.

use std::borrow::Cow;

/// A node's interval of preorder numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    pub(crate) start: u32,
    /// The number after the last one of the interval.
    pub(crate) end: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Forest {
    /// The parent of each node. A root is its own parent.
    parents: Vec<u32>,
    /// The jump pointer of each node: an ancestor, possibly the parent. A root points to itself.
    jumps: Vec<u32>,
    /// The order of each jump pointer. A jump of order k climbs 2^k - 1 levels.
    orders: Vec<u8>,
    spans: Vec<Span>,
    /// The number of nodes when the forest was last numbered.
    numbered: u32,
    /// The first preorder number that no node uses.
    free: u32,
}

impl Forest {
    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    /// Adds a leaf under `parent`, or a root if `parent` is `None`, and returns the new node.
    pub(crate) fn push(&mut self, parent: Option<u32>) -> u32 {
        let node = self.parents.len() as u32;
        let Some(parent) = parent else {
            self.parents.push(node);
            self.jumps.push(node);
            self.orders.push(0);
            self.spans.push(Span { start: self.free, end: self.free + 1 });
            self.free += 1;
            return node;
        };
        let jump = self.jumps[parent as usize];
        let order = self.orders[parent as usize];
        let doubles = order == self.orders[jump as usize] && jump != parent;
        self.parents.push(parent);
        self.jumps.push(if doubles { self.jumps[jump as usize] } else { parent });
        self.orders.push(if doubles { order + 1 } else { 1 });
        let start = self.spans[parent as usize].start;
        self.spans.push(Span { start, end: start + 1 });
        node
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.parents.shrink_to_fit();
        self.jumps.shrink_to_fit();
        self.orders.shrink_to_fit();
        self.spans.shrink_to_fit();
    }

    #[inline]
    pub(crate) fn parent(&self, node: u32) -> Option<u32> {
        let parent = self.parents[node as usize];
        (parent != node).then_some(parent)
    }

    /// Iterates over a node and its ancestors, from the node up to its root.
    pub(crate) fn walk(&self, from: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(Some(from), |&node| self.parent(node))
    }

    #[inline]
    pub(crate) fn span(&self, node: u32) -> Span {
        self.spans[node as usize]
    }

    #[inline]
    pub(crate) fn is_unnumbered(&self, node: u32) -> bool {
        node >= self.numbered
    }

    pub(crate) fn has_unnumbered(&self) -> bool {
        self.numbered as usize != self.len()
    }

    /// Returns whether `upper` is `lower` or an ancestor of it.
    #[inline]
    pub(crate) fn is_ancestor(&self, upper: u32, lower: u32) -> bool {
        let (above, below) = (self.span(upper), self.span(lower));
        let within = above.start <= below.start && below.start < above.end;
        // All descendants of an unnumbered node are unnumbered.
        within && (!self.is_unnumbered(upper) || self.climb(lower, |node| node >= upper) == upper)
    }

    /// Returns whether two nodes are equal or one is an ancestor of the other.
    pub(crate) fn related(&self, a: u32, b: u32) -> bool {
        // A node is added after all its ancestors.
        self.is_ancestor(a.min(b), a.max(b))
    }

    /// Returns the highest node among `from` and its ancestors for which `below` holds, or `from`
    /// if there is none. If `below` fails for a node, it must fail for all ancestors of the node.
    #[inline]
    pub(crate) fn climb(&self, from: u32, below: impl Fn(u32) -> bool) -> u32 {
        let mut node = from;
        loop {
            let (jump, parent) = (self.jumps[node as usize], self.parents[node as usize]);
            node = match () {
                () if jump != node && below(jump) => jump,
                () if parent != node && below(parent) => parent,
                () => return node,
            };
        }
    }

    /// Returns the lowest node that is an ancestor of, or equal to, both `a` and `b`, if any.
    pub(crate) fn nearest_common(&self, a: u32, b: u32) -> Option<u32> {
        if self.is_ancestor(a, b) {
            return Some(a);
        }
        self.parent(self.climb(a, |node| !self.is_ancestor(node, b)))
    }

    /// Numbers all nodes if too many of them are unnumbered. Returns whether it numbered them.
    pub(crate) fn catch_up(&mut self) -> bool {
        const FEW: usize = 16;
        let unnumbered = self.len() - self.numbered as usize;
        if unnumbered <= FEW + self.numbered as usize / 4 {
            return false;
        }
        self.number();
        true
    }

    /// Returns the spans of all nodes as if all were numbered. No two begin with the same number.
    pub(crate) fn spans(&self) -> Cow<'_, [Span]> {
        if !self.has_unnumbered() {
            return Cow::Borrowed(&self.spans);
        }
        let mut numbered = self.clone();
        numbered.number();
        Cow::Owned(numbered.spans)
    }

    pub(crate) fn number(&mut self) {
        let parents = &self.parents;
        let parent =
            |node: usize| (parents[node] as usize != node).then_some(parents[node] as usize);
        let mut sizes = vec![1_u32; parents.len()];
        for node in (0..parents.len()).rev() {
            if let Some(parent) = parent(node) {
                sizes[parent] += sizes[node];
            }
        }
        // The first free number for the children of each node, and the first one for the roots.
        let mut free = vec![0; parents.len()];
        let mut free_root = 0;
        for node in 0..parents.len() {
            let slot = match parent(node) {
                Some(parent) => &mut free[parent],
                None => &mut free_root,
            };
            let start = *slot;
            *slot += sizes[node];
            free[node] = start + 1;
            self.spans[node] = Span { start, end: start + sizes[node] };
        }
        self.free = free_root;
        self.numbered = parents.len() as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::Forest;
    use crate::random::Rng;

    /// Adds nodes at random places and tests every pair of nodes after each addition.
    #[test]
    fn ancestors_are_those_on_the_way_up() {
        let mut rng = Rng(1);
        for deep in [false, true] {
            let mut forest = Forest::default();
            for node in 0..160_u32 {
                let parent = match rng.below(12) {
                    _ if node == 0 => None,
                    0 => None,
                    _ if deep => Some(node - 1),
                    _ => Some(rng.below(node.into()) as u32),
                };
                forest.push(parent);
                if rng.below(3) == 0 {
                    forest.catch_up();
                }
                for lower in 0..=node {
                    let above: Vec<u32> = forest.walk(lower).collect();
                    for upper in 0..=node {
                        assert_eq!(
                            forest.is_ancestor(upper, lower),
                            above.contains(&upper),
                            "{upper} above {lower} of {node}, deep: {deep}"
                        );
                    }
                }
            }
        }
    }
}

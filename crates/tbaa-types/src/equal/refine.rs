//! Partition refinement: finds the coarsest classes such that the nodes of a class have the same
//! colour, and their edges at each position lead to the same class.
//!
//! This is Hopcroft's algorithm, "An n log n algorithm for minimizing states in a finite automaton"
//! (1971). For a class C and a position, each class splits into the nodes whose edge at that
//! position leads into C, and the rest. Of the two halves, only the smaller must serve as C later.

use super::automaton::Automaton;

/// A partition of the nodes into blocks. Each block is a range of `nodes`.
struct Partition {
    nodes: Vec<u32>,
    /// The index of each node in `nodes`.
    place: Vec<u32>,
    block: Vec<u32>,
    /// For each block, its begin and end in `nodes`, and the end of the marked nodes at its front.
    ranges: Vec<(u32, u32, u32)>,
}

impl Partition {
    fn new(colours: Vec<u32>) -> Partition {
        let mut nodes: Vec<u32> = (0..colours.len() as u32).collect();
        nodes.sort_by_key(|&node| colours[node as usize]);
        let (mut place, mut block) = (vec![0; nodes.len()], vec![0; nodes.len()]);
        let mut ranges: Vec<(u32, u32, u32)> = Vec::new();
        let mut first = 0;
        for nodes in nodes.chunk_by(|&a, &b| colours[a as usize] == colours[b as usize]) {
            for (at, &node) in (first..).zip(nodes) {
                (place[node as usize], block[node as usize]) = (at, ranges.len() as u32);
            }
            let end = first + nodes.len() as u32;
            ranges.push((first, end, first));
            first = end;
        }
        Partition { nodes, place, block, ranges }
    }

    /// Moves a node to the marked front of its block. Returns the block if none was marked before.
    fn mark(&mut self, node: u32) -> Option<u32> {
        let block = self.block[node as usize];
        let (first, _, marked) = self.ranges[block as usize];
        let place = self.place[node as usize];
        if place < marked {
            return None;
        }
        let other = self.nodes[marked as usize];
        self.nodes.swap(place as usize, marked as usize);
        self.place[node as usize] = marked;
        self.place[other as usize] = place;
        self.ranges[block as usize].2 = marked + 1;
        (marked == first).then_some(block)
    }

    /// Splits a block with marked and unmarked nodes. Returns the new block, the smaller half.
    fn cut(&mut self, block: u32) -> Option<u32> {
        let (first, end, marked) = self.ranges[block as usize];
        self.ranges[block as usize].2 = first;
        if marked == end {
            return None;
        }
        let new = self.ranges.len() as u32;
        let (kept, cut) = if marked - first <= end - marked {
            ((marked, end), (first, marked))
        } else {
            ((first, marked), (marked, end))
        };
        self.ranges[block as usize] = (kept.0, kept.1, kept.0);
        self.ranges.push((cut.0, cut.1, cut.0));
        for at in cut.0..cut.1 {
            self.block[self.nodes[at as usize] as usize] = new;
        }
        Some(new)
    }
}

/// Splits classes of equal colour until, at each position, all edges of a class lead to one class.
/// Returns the class of each node.
pub(super) fn refine(automaton: &Automaton, colours: Vec<u32>) -> Vec<u32> {
    let (sources, into) = reversed(automaton);
    let mut partition = Partition::new(colours);
    let mut work: Vec<u32> = (0..partition.ranges.len() as u32).collect();
    let mut entering: Vec<(u32, u32)> = Vec::new();
    let mut touched: Vec<u32> = Vec::new();
    while let Some(splitter) = work.pop() {
        let (first, end, _) = partition.ranges[splitter as usize];
        entering.clear();
        for &node in &partition.nodes[first as usize..end as usize] {
            let range = into[node as usize]..into[node as usize + 1];
            entering.extend_from_slice(&sources[range]);
        }
        entering.sort_unstable();
        for group in entering.chunk_by(|a, b| a.0 == b.0) {
            touched.clear();
            for &(_, node) in group {
                touched.extend(partition.mark(node));
            }
            for &block in &touched {
                // If `block` was on the work list, now both halves are. Otherwise the smaller half,
                // which `cut` returns, is enough.
                work.extend(partition.cut(block));
            }
        }
    }
    partition.block
}

/// Returns the position and the source node of each edge, sorted by target node, and the index of
/// the first edge of each target.
fn reversed(automaton: &Automaton) -> (Vec<(u32, u32)>, Vec<usize>) {
    let edges = automaton.all_edges().map(|(node, place, target)| (target, place, node));
    let mut edges: Vec<(u32, u32, u32)> = edges.collect();
    edges.sort_unstable();
    let first = |node: u32| edges.partition_point(|&(target, ..)| target < node);
    let into = (0..=automaton.len() as u32).map(first).collect();
    (edges.iter().map(|&(_, place, node)| (place, node)).collect(), into)
}

//! Decides structural equality by pairing the nodes of two types one to one.
//!
//! Two types are equal exactly if a parallel traversal pairs each struct of one with exactly one
//! struct of the other. Comparing *encodings* (each type as a sequence of numbers) would take
//! quadratic time if all types reach each other. So nodes are first coloured by a prefix of their
//! encodings. For most types the prefix is the whole encoding. Refinement then separates nodes that
//! lead to different colours. The remaining nodes of one colour are compared by traversals. A
//! successful traversal proves that the nodes of each pair it visited are equal.

use petgraph::graph::DiGraph;
use petgraph::unionfind::UnionFind;

use super::automaton::Automaton;
use super::refine::refine;
use crate::table::{HashMap, HashSet, IndexSet};

/// The length of the prefix of encodings by which nodes are coloured.
const PREFIX: usize = 64;
/// All traversals together may visit this many pairs or nodes for each node and edge of the graph.
const STEPS: usize = 64;

/// Returns the class of each node, and true if equal nodes are surely in the same class.
pub(super) fn structural(automaton: &Automaton) -> (Vec<u32>, bool) {
    let (prefixes, whole) = prefixes(automaton);
    let colours = refine(automaton, prefixes);
    let (components, order) = components(automaton);
    let size = automaton.len() + automaton.edges.len();
    let left = size.saturating_mul(STEPS);
    let mut pairing = Pairing { automaton, left, components: &components };
    let mut sets: UnionFind<u32> = UnionFind::new(automaton.len());
    // Nodes of each colour that are known to differ from each other.
    let mut apart: HashMap<u32, Vec<u32>> = HashMap::default();
    for node in order {
        if pairing.left == 0 {
            break;
        }
        let known = apart.entry(colours[node as usize]).or_default();
        let own = sets.find_mut(node);
        if known.iter().any(|&other| sets.find_mut(other) == own) {
            continue;
        }
        let mut paired = None;
        for &other in known.iter() {
            paired = match whole[node as usize] {
                true => Some(vec![(node, other)]),
                false => pairing.pair(node, other),
            };
            if paired.is_some() || pairing.left == 0 {
                break;
            }
        }
        match paired {
            Some(pairs) => {
                for (a, b) in pairs {
                    sets.union(a, b);
                }
            }
            None => known.push(node),
        }
    }
    let classes = (0..automaton.len() as u32).map(|node| sets.find_mut(node)).collect();
    (classes, pairing.left > 0)
}

/// Returns, for each node, a number for the prefix of its encoding, and whether the encoding is
/// shorter than [`PREFIX`]. The encoding is breadth-first here, so a prefix describes near nodes.
fn prefixes(automaton: &Automaton) -> (Vec<u32>, Vec<bool>) {
    let mut known: IndexSet<Box<[u32]>> = IndexSet::default();
    let mut whole = Vec::with_capacity(automaton.len());
    let mut numbers = Vec::with_capacity(automaton.len());
    let (mut out, mut structs, mut queue) = (Vec::new(), Vec::new(), Vec::new());
    for node in 0..automaton.len() as u32 {
        out.clear();
        structs.clear();
        queue.clear();
        queue.push(node);
        let mut at = 0;
        while out.len() < PREFIX
            && let Some(&node) = queue.get(at)
        {
            at += 1;
            out.push(automaton.symbols[node as usize]);
            let met = structs.iter().position(|&other| other == node);
            if automaton.structs[node as usize] {
                out.push(met.unwrap_or(structs.len()) as u32);
            }
            if met.is_none() {
                structs.extend(automaton.structs[node as usize].then_some(node));
                // The prefix is complete after at most `PREFIX` more nodes.
                let room = PREFIX.saturating_sub(queue.len() - at);
                queue.extend(automaton.edges(node).iter().take(room));
            }
        }
        let is_whole = out.len() < PREFIX;
        whole.push(is_whole);
        numbers.push(match known.get_index_of(&out[..]) {
            Some(number) => number,
            None => known.insert_full(out[..].into()).0,
        } as u32);
    }
    (numbers, whole)
}

/// Returns the number of each node's strongly connected component, and all nodes, sorted by
/// descending component number. A component leads only to components with smaller numbers.
fn components(automaton: &Automaton) -> (Vec<u32>, Vec<u32>) {
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(automaton.len(), automaton.edges.len());
    for _ in 0..automaton.len() {
        graph.add_node(());
    }
    graph.extend_with_edges(automaton.all_edges().map(|(node, _, target)| (node, target)));
    let mut numbers = vec![0; automaton.len()];
    let found = petgraph::algo::kosaraju_scc(&graph);
    for (number, component) in found.iter().enumerate() {
        for node in component {
            numbers[node.index()] = number as u32;
        }
    }
    let order = found.iter().rev().flatten().map(|node| node.index() as u32).collect();
    (numbers, order)
}

struct Pairing<'a> {
    automaton: &'a Automaton,
    /// The number of pairs or nodes that may still be visited.
    left: usize,
    /// The number of each node's strongly connected component.
    components: &'a [u32],
}

impl Pairing<'_> {
    /// Returns the pairs of different nodes that correspond in two types. Returns `None` if the
    /// types are not equal or `left` is used up.
    fn pair(&mut self, a: u32, b: u32) -> Option<Vec<(u32, u32)>> {
        let mut pairs = Vec::new();
        let mut selves = Vec::new();
        let mut to: HashMap<u32, u32> = HashMap::default();
        let mut from: HashMap<u32, u32> = HashMap::default();
        let mut seen: HashSet<(u32, u32)> = HashSet::default();
        let mut work = vec![(a, b)];
        while let Some((a, b)) = work.pop() {
            self.left = self.left.checked_sub(1)?;
            if self.automaton.symbols[a as usize] != self.automaton.symbols[b as usize] {
                return None;
            }
            // A node that is paired with itself needs no traversal; `consistent` checks it later.
            if a == b && !self.components.is_empty() {
                selves.push(a);
                continue;
            }
            if self.automaton.structs[a as usize] {
                let (before, after) = (to.insert(a, b), from.insert(b, a));
                match (before, after) {
                    (None, None) => {}
                    (Some(same), Some(_)) if same == b => continue,
                    _ => return None,
                }
            } else if !seen.insert((a, b)) {
                continue;
            }
            pairs.push((a, b));
            let parts = self.automaton.edges(a).iter().zip(self.automaton.edges(b));
            work.extend(parts.map(|(&a, &b)| (a, b)));
        }
        self.consistent(&selves, &pairs).then_some(pairs)
    }

    /// Returns false if a struct that is paired with another node is also reachable from a node
    /// that is paired with itself, or if `left` is used up.
    fn consistent(&mut self, selves: &[u32], pairs: &[(u32, u32)]) -> bool {
        if selves.is_empty() {
            return true;
        }
        let component = |node: u32| self.components[node as usize];
        let highest = selves.iter().map(|&node| component(node)).max();
        let lowest = pairs.iter().map(|&(a, b)| component(a).min(component(b))).min();
        let (Some(highest), Some(lowest)) = (highest, lowest) else { return true };
        if highest < lowest {
            return true;
        }
        let others: HashSet<u32> = pairs
            .iter()
            .flat_map(|&(a, b)| [a, b])
            .filter(|&node| self.automaton.structs[node as usize])
            .collect();
        let mut seen: HashSet<u32> = selves.iter().copied().collect();
        let mut work = selves.to_vec();
        while let Some(node) = work.pop() {
            let Some(left) = self.left.checked_sub(1) else { return false };
            self.left = left;
            if others.contains(&node) {
                return false;
            }
            if self.components[node as usize] >= lowest {
                let targets = self.automaton.edges(node).iter().copied();
                work.extend(targets.filter(|&target| seen.insert(target)));
            }
        }
        true
    }
}

//! Nodes that are reserved before they are filled.

use crate::RULES;
use crate::support::{Rng, setting};
use pretty_assertions::assert_eq;
use tbaa::{AliasResult, Graph, Int, NodeId, Operand, Oracle, TypeId};

/// An operand of a node of a graph that is yet to be made.
#[derive(Clone)]
enum Part {
    Name(String),
    Int(u64),
    Node(usize),
}

/// Nodes of any kind, some of which are reserved before they are filled and may
/// then refer to later ones; and how many of them are types, before the tags.
fn wild_nodes(rng: &mut Rng) -> (Vec<(bool, Vec<Part>)>, usize) {
    const TYPES: usize = 24;
    let mut nodes = vec![(false, vec![Part::Name("root".to_owned())])];
    let (cyclic, mixed, sized) = (rng.one_in(3), rng.one_in(6), rng.one_in(2));
    for number in 1..TYPES {
        let reserved = rng.one_in(3);
        let later = cyclic && reserved && rng.one_in(3);
        let other = |rng: &mut Rng| {
            Part::Node(match () {
                () if later && rng.one_in(2) => rng.below(TYPES),
                () => number - 1 - rng.below(number.min(4)),
            })
        };
        let name = Part::Name(format!("t{number}"));
        let new = if mixed { rng.one_in(2) } else { sized };
        let fields = if rng.one_in(2) { 0 } else { 1 + rng.below(3) };
        let mut parts = match (new, fields) {
            (true, _) => vec![other(rng), Part::Int(8), name],
            (false, 0) => vec![name, other(rng), Part::Int(0)],
            (false, _) => vec![name],
        };
        for field in 0..fields as u64 {
            let offset = if rng.one_in(8) { 0 } else { 8 * field };
            parts.extend([other(rng), Part::Int(offset)]);
            parts.extend(new.then_some(Part::Int(8)));
        }
        nodes.push((reserved, parts));
    }
    for _ in 0..40 {
        let base = rng.below(TYPES);
        let (mut access, mut offset) = (base, 0);
        for _ in 0..rng.below(12) {
            let parts = &nodes[access].1;
            let below = parts.iter().enumerate().filter_map(|(at, part)| match part {
                Part::Node(node) if *node != 0 => Some((at, *node)),
                _ => None,
            });
            let below: Vec<_> = below.collect();
            if below.is_empty() {
                break;
            }
            let (at, next) = *rng.pick(&below);
            if let Some(Part::Int(start)) = parts.get(at + 1).filter(|_| at > 0) {
                offset += start;
            }
            access = next;
        }
        let mut tag = vec![Part::Node(base), Part::Node(access), Part::Int(offset)];
        let new = matches!(nodes[access].1[0], Part::Node(_));
        tag.extend(new.then_some(Part::Int(8)));
        nodes.push((rng.one_in(3), tag));
    }
    (nodes, TYPES)
}

/// Makes the nodes. Reserved ones are filled some time later, and tags and some
/// types marked as soon as they are there; or all that at the end.
fn wild_graph(
    nodes: &[(bool, Vec<Part>)],
    types: usize,
    mut bit_by_bit: Option<&mut Rng>,
) -> Graph {
    let mut graph = Graph::new();
    let mut ids: Vec<NodeId> = Vec::new();
    let mut pending: Vec<usize> = Vec::new();
    let operands = |ids: &[NodeId], node: usize| -> Vec<Operand<'_>> {
        let parts = nodes[node].1.iter();
        let operands = parts.map(|part| match part {
            Part::Name(name) => Operand::String(name.as_bytes()),
            Part::Int(value) => Operand::Int(Int::i64(*value)),
            Part::Node(node) => Operand::Node(ids[*node]),
        });
        operands.collect()
    };
    for (number, (reserved, parts)) in nodes.iter().enumerate() {
        ids.push(if *reserved {
            pending.push(number);
            graph.reserve(parts.len(), true).unwrap()
        } else {
            graph.insert(&operands(&ids, number)).unwrap()
        });
        let Some(rng) = &mut bit_by_bit else { continue };
        if number >= types || rng.one_in(3) {
            if number >= types {
                graph.mark_tag(ids[number]);
            } else {
                graph.mark_type(ids[number]);
            }
        }
        if !pending.is_empty() && rng.one_in(3) {
            let next = rng.below(pending.len());
            let there = |part: &Part| !matches!(part, Part::Node(node) if *node >= ids.len());
            if nodes[pending[next]].1.iter().all(there) {
                let next = pending.swap_remove(next);
                graph.fill(ids[next], &operands(&ids, next)).unwrap();
            }
        }
    }
    for next in pending {
        graph.fill(ids[next], &operands(&ids, next)).unwrap();
    }
    for &ty in &ids[..types] {
        graph.mark_type(ty);
    }
    for &tag in &ids[types..] {
        graph.mark_tag(tag);
    }
    graph
}

/// The root above a type, by its definition.
fn root_above(graph: &Graph, mut ty: TypeId) -> Option<TypeId> {
    for _ in 0..=graph.node_count() {
        match graph.ty(ty).parent() {
            Some(parent) => ty = parent,
            None => return Some(ty),
        }
    }
    None
}

#[test]
fn graphs_do_not_depend_on_when_their_nodes_were_filled() {
    let mut no = 0;
    for seed in 0..setting("TBAA_GRAPHS", 6) * 50 {
        let mut rng = Rng(seed as u64);
        let (nodes, types) = wild_nodes(&mut rng);
        let whole = wild_graph(&nodes, types, None);
        let grown = wild_graph(&nodes, types, Some(&mut rng));
        let sorted = |graph: &Graph| {
            let mut types: Vec<_> = graph.types().map(|ty| ty.node().index()).collect();
            types.sort_unstable();
            types
        };
        assert_eq!(sorted(&whole), sorted(&grown), "seed {seed}");
        for graph in [&whole, &grown] {
            for ty in graph.types() {
                assert_eq!(graph.root_of(ty), root_above(graph, ty), "seed {seed}: {ty:?}");
            }
        }
        let tags: Vec<_> = whole.tags().zip(grown.tags()).collect();
        for rules in RULES {
            let (whole, grown) = (Oracle::new(&whole, rules), Oracle::new(&grown, rules));
            for (i, &(a, of_a)) in tags.iter().enumerate() {
                for &(b, of_b) in &tags[..i] {
                    let answer = whole.alias(a, b);
                    assert_eq!(answer, grown.alias(of_a, of_b), "seed {seed}, {rules}");
                    no += usize::from(answer == AliasResult::NoAlias);
                }
            }
        }
    }
    assert!(no > 1_000, "{no}");
}

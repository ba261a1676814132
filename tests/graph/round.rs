//! Graphs that survive being written as text and read again.

use crate::groups::{unmarked, wild_nodes};
use tbaa::raw::{Draft, DraftOperand, RawGraph};
use tbaa::{Graph, Int, Operand};
use tbaa_tests::{Rng, setting};

fn check(graph: &Graph) {
    let written = tbaa_ir::write(graph);
    let read = tbaa_ir::read(written.as_bytes()).unwrap().into_graph();
    assert!(read == *graph, "{graph:?}\n{written}{read:?}");
    assert_eq!(tbaa_ir::write(&read), written);
}

#[test]
fn an_empty_node_may_be_a_copy() {
    let mut graph = Graph::new();
    let empty = graph.insert(&[]).unwrap();
    graph.mark_copy(empty);
    check(&graph);
    graph.mark_type(empty);
    check(&graph);
    graph.mark_tag(empty);
    check(&graph);
}

#[test]
fn one_node_may_be_a_tag_and_a_copy() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let int = b.scalar_type("int", root).unwrap();
    let tag = b.struct_tag(int, int, 0).unwrap();
    let four = Operand::Int(Int::i64(4));
    let tag = Operand::Node(graph.tag_node(tag));
    let first = graph.insert(&[four, four, tag]).unwrap();
    let both = graph.insert(&[tag, four, tag]).unwrap();
    graph.mark_copy(first);
    graph.mark_copy(both);
    graph.mark_tag(both);
    check(&graph);
}

#[test]
fn a_cycle_of_types_may_be_entered_anywhere() {
    let node = |name: &'static [u8], to: usize| Draft {
        distinct: false,
        operands: vec![
            Operand::String(name).into(),
            DraftOperand::Member(to),
            Operand::Int(Int::i64(0)).into(),
        ],
    };
    for start in 0..3 {
        let mut graph = Graph::new();
        let nodes = [node(b"a", 1), node(b"b", 2), node(b"c", 0)];
        let nodes = graph.insert_group(&nodes).unwrap();
        graph.mark_type(nodes[start]);
        check(&graph);
        let whole = [Operand::Node(nodes[start]), Operand::Node(nodes[start])];
        let tag = graph.insert(&whole).unwrap();
        graph.mark_tag(tag);
        check(&graph);
    }
}

/// A type node that is only marked by its user is marked again when it is read.
#[test]
fn a_node_that_something_leads_to_keeps_what_it_is() {
    let mut graph = Graph::new();
    let lone = graph.insert(&[Operand::String(b"lone")]).unwrap();
    let copy = graph.insert(&[Operand::Node(lone)]).unwrap();
    graph.mark_copy(copy);
    let without = Graph::clone(&graph);
    graph.mark_type(lone);
    assert!(graph != without);
    check(&graph);
}

/// Nodes of any kind, each marked arbitrarily, in any order.
#[test]
fn wild_graphs_survive() {
    let (mut cyclic, mut unequal) = (0, 0);
    for seed in 0..setting("TBAA_GRAPHS", 6) * 50 {
        let mut rng = Rng(seed as u64);
        let nodes = wild_nodes(&mut rng);
        let order = rng.shuffled(nodes.len());
        let mut graph = unmarked(&nodes, &order).0;
        let all: Vec<_> = graph.nodes().collect();
        for _ in 0..rng.below(30) {
            let node = *rng.pick(&all);
            let before = graph.clone();
            let new = match rng.below(3) {
                0 => graph.tag_of(node).is_none().then(|| _ = graph.mark_tag(node)),
                1 => graph.copy_of(node).is_none().then(|| _ = graph.mark_copy(node)),
                _ => graph.type_of(node).is_none().then(|| _ = graph.mark_type(node)),
            };
            assert_eq!(graph != before, new.is_some(), "seed {seed}");
            unequal += usize::from(new.is_some());
        }
        check(&graph);
        let back: Graph = ron::from_str(&ron::to_string(&graph).unwrap()).unwrap();
        assert!(back == graph, "seed {seed}");
        cyclic += usize::from(graph.types().any(|ty| graph.root_of(ty).is_none()));
    }
    assert!(cyclic > 10 && unequal > 1_000, "{cyclic} {unequal}");
}

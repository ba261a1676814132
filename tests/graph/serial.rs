//! Graphs are read again from their serialised form, with the nodes in any order.

use crate::groups::{Part, TYPES, equal_nodes, wild_nodes};
use pretty_assertions::assert_eq;
use tbaa::{Format, Graph, Operand};
use tbaa_tests::engines::answers;
use tbaa_tests::random::{self, Shape, Universe};
use tbaa_tests::{Rng, setting};

/// Returns the serialised form of `nodes` in the given order. A node is given as its flag
/// `distinct`, its operands, and an index into `nodes` for each operand with the text `node`.
fn serialised(
    nodes: &[(bool, Vec<String>, Vec<usize>)],
    order: &[usize],
    [tags, types]: [&[usize]; 2],
) -> String {
    let mut place = vec![0; nodes.len()];
    order.iter().enumerate().for_each(|(at, &node)| place[node] = at);
    let list = order.iter().map(|&node| {
        let (distinct, operands, references) = &nodes[node];
        let references = &mut references.iter();
        let operands = operands.iter().map(|operand| match operand.as_str() {
            "node" => format!("Node({})", place[*references.next().unwrap()]),
            other => other.to_owned(),
        });
        let operands = operands.collect::<Vec<_>>().join(", ");
        format!("(distinct: {distinct}, operands: [{operands}])")
    });
    let list = list.collect::<Vec<_>>().join(", ");
    let tags: Vec<usize> = tags.iter().map(|&tag| place[tag]).collect();
    let types: Vec<usize> = types.iter().map(|&ty| place[ty]).collect();
    format!("(nodes: [{list}], tags: {tags:?}, types: {types:?}, copies: [])")
}

fn all_answers(graph: &Graph) -> Vec<bool> {
    answers(graph, &graph.tags().collect::<Vec<_>>())
}

fn int(value: u64) -> String {
    format!("Int(bits: 64, value: {value})")
}

#[test]
fn a_shuffled_graph_reads_as_the_same() {
    for seed in 0..setting("TBAA_GRAPHS", 3) * 4 {
        let mut rng = Rng(seed as u64);
        let format = if rng.one_in(2) { Format::Old } else { Format::New };
        let universe = Universe { format, structs: 12, tags: 40, shape: Shape::Any };
        let graph = random::graph(&mut rng, &universe);
        let back: Graph = ron::from_str(&ron::to_string(&graph).unwrap()).unwrap();
        assert_eq!(back, graph, "seed {seed}");
        assert!(back.nodes().map(|n| n.index()).eq(graph.nodes().map(|n| n.index())));
        let nodes: Vec<_> = graph
            .nodes()
            .map(|node| {
                let operand = |operand: Operand<'_>| match operand {
                    Operand::Null => "Null".to_owned(),
                    Operand::String(text) => {
                        format!("Str({:?})", std::str::from_utf8(text).unwrap())
                    }
                    Operand::Int(value) => int(value.value),
                    Operand::Node(_) => "node".to_owned(),
                    other => panic!("{other:?}"),
                };
                let references = graph.operands(node).filter_map(Operand::node);
                (
                    graph.is_distinct(node),
                    graph.operands(node).map(operand).collect(),
                    references.map(|node| node.index()).collect(),
                )
            })
            .collect();
        let tags: Vec<_> = graph.tags().map(|tag| graph.tag_node(tag).index()).collect();
        let types: Vec<_> = graph.types().map(|ty| ty.node().index()).collect();
        let order = rng.shuffled(nodes.len());
        let other: Graph = ron::from_str(&serialised(&nodes, &order, [&tags, &types])).unwrap();
        assert_eq!(other.tag_count(), graph.tag_count(), "seed {seed}");
        assert_eq!(other.node_count(), graph.node_count(), "seed {seed}");
        assert_eq!(all_answers(&other), all_answers(&graph), "seed {seed}");
    }
}

#[test]
fn equal_and_cyclic_nodes_in_any_order_read_as_the_same() {
    for seed in 0..setting("TBAA_GRAPHS", 3) * 20 {
        let mut rng = Rng(seed as u64);
        let wild = wild_nodes(&mut rng);
        let nodes: Vec<_> = wild
            .iter()
            .map(|node| {
                let operands = node.parts.iter().map(|part| match part {
                    Part::Name(name) => format!("Str({name:?})"),
                    Part::Int(value) => int(*value),
                    Part::Node(_) => "node".to_owned(),
                });
                let references = node.parts.iter().filter_map(|part| match part {
                    Part::Node(node) => Some(*node),
                    _ => None,
                });
                (node.distinct, operands.collect(), references.collect())
            })
            .collect();
        let (tags, types): (Vec<_>, Vec<_>) =
            ((TYPES..nodes.len()).collect(), (0..TYPES).collect());
        let read = |order: &[usize]| -> Graph {
            ron::from_str(&serialised(&nodes, order, [&tags, &types])).unwrap()
        };
        let ordered = read(&(0..nodes.len()).collect::<Vec<_>>());
        let other = read(&rng.shuffled(nodes.len()));
        let classes = equal_nodes(&wild).iter().enumerate().filter(|&(at, &one)| at == one).count();
        assert_eq!([&ordered, &other].map(|graph| graph.node_count()), [classes; 2], "seed {seed}");
        assert_eq!(other.tag_count(), ordered.tag_count(), "seed {seed}");
        assert_eq!(all_answers(&other), all_answers(&ordered), "seed {seed}");
        let back: Graph = ron::from_str(&ron::to_string(&other).unwrap()).unwrap();
        assert_eq!(ron::to_string(&back).unwrap(), ron::to_string(&other).unwrap(), "seed {seed}");
    }
}

#[test]
fn a_serialised_graph_with_a_hole_is_refused() {
    let fits = "(nodes: [(operands: [Int(bits: 8, value: 255)])], tags: [], types: [], copies: [])";
    assert_eq!(ron::from_str::<Graph>(fits).unwrap().node_count(), 1);
    for line in include_str!("../fixtures/graph/refused.txt").lines() {
        let (text, what) = line.split_once(" | ").unwrap();
        let error = ron::from_str::<Graph>(text).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

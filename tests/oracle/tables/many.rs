//! Answers to many pairs at once, and from many threads.

use super::each_graph;
use pretty_assertions::assert_eq;
use tbaa::{Graph, Oracle, Rules};
use tbaa_tests::Rng;
use tbaa_tests::engines::every_engine;

/// Tags of larger graphs, some of them twice, in any order.
#[test]
fn larger_graphs_through_every_engine() {
    each_graph(|rng, what, graph| {
        let all: Vec<_> = graph.tags().collect();
        let tags: Vec<_> = (0..rng.below(60)).map(|_| *rng.pick(&all)).collect();
        every_engine(graph, &tags).unwrap_or_else(|why| panic!("{what}: {why}"));
    });
}

/// Structs with five thousand fields in all, and then some unions.
pub(crate) fn many_classes(unions: u64) -> Graph {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let int = b.scalar_type("int", root).unwrap();
    let float = b.scalar_type("float", root).unwrap();
    let fields: Vec<_> = (0..10).map(|i| (if i % 2 == 0 { int } else { float }, 4 * i)).collect();
    for i in 0..500 {
        let plain = b.struct_type(format!("P{i}"), &fields).unwrap();
        for &(ty, offset) in &fields {
            b.struct_tag(plain, ty, offset, false).unwrap();
        }
    }
    for i in 0..unions {
        let union = b.struct_type(format!("U{i}"), &[(int, 0), (float, 0)]).unwrap();
        let outer = b.struct_type(format!("S{i}"), &[(int, 0), (union, 8)]).unwrap();
        for (base, offset) in [(union, 0), (outer, 8)] {
            b.struct_tag(base, int, offset, false).unwrap();
            b.struct_tag(base, float, offset, false).unwrap();
        }
    }
    graph
}

#[test]
fn threads_ask_at_once() {
    let graph = many_classes(5);
    let tags: Vec<_> = graph.tags().collect();
    let oracle = Oracle::new(graph, Rules::Union);
    let answers = |seed| {
        let mut rng = Rng(seed);
        let mut ask = || oracle.may_alias(*rng.pick(&tags), *rng.pick(&tags));
        (0..2_000).map(|_| ask()).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|seed| scope.spawn(move || answers(seed))).collect();
        for (seed, thread) in threads.into_iter().enumerate() {
            assert_eq!(thread.join().unwrap(), answers(seed as u64));
        }
    });
}

//! Answers to many pairs at once, and from many threads.

use super::each_graph;
use pretty_assertions::assert_eq;
use tbaa::{AliasRule, Graph, Oracle, SizedField, TypeKind};
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
            b.struct_tag(plain, ty, offset).unwrap();
        }
    }
    for i in 0..unions {
        let union = b.struct_type(format!("U{i}"), &[(int, 0), (float, 0)]).unwrap();
        let outer = b.struct_type(format!("S{i}"), &[(int, 0), (union, 8)]).unwrap();
        for (base, offset) in [(union, 0), (outer, 8)] {
            b.struct_tag(base, int, offset).unwrap();
            b.struct_tag(base, float, offset).unwrap();
        }
    }
    graph
}

#[test]
fn threads_ask_at_once() {
    let graph = many_classes(5);
    let tags: Vec<_> = graph.tags().collect();
    let oracle = Oracle::new(graph, AliasRule::Union);
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

/// Returns deeply nested arrays in unions in structs. Some types have more objects than are listed.
/// Accesses to any type inside, some of them larger than their type.
fn deep_unions(seed: u64) -> Graph {
    let (mut rng, mut graph) = (Rng(seed), Graph::new());
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let char = b.sized_type(root, 1, "char", &[]).unwrap();
    let scalar = |(name, size)| (b.sized_type(char, size, name, &[]).unwrap(), size);
    let mut types: Vec<_> = [("short", 2), ("int", 4), ("long", 8)].map(scalar).into();
    for number in 0..40 {
        let (union, mut end) = (rng.one_in(3), 0);
        let mut fields = Vec::new();
        for _ in 0..2 + rng.below(4) {
            let from = types.len().saturating_sub(10);
            let from = if rng.one_in(3) { &types[..3] } else { &types[from..] };
            let (ty, size) = *rng.pick(from);
            let size = size * if rng.one_in(2) { 1 + rng.below(9) } else { 1 };
            let offset = if union { 0 } else { end };
            fields.push(SizedField { ty, offset, size });
            end = end.max(offset + size).next_multiple_of(4);
        }
        if end < 1 << 24 {
            let ty = b.sized_type(char, end, format!("A{number}"), &fields).unwrap();
            types.push((ty, end));
        }
    }
    for _ in 0..150 {
        let (base, _) = *rng.pick(&types[3..]);
        let (mut access, mut offset) = (base, 0);
        while !rng.one_in(6) && graph.ty(access).kind() == TypeKind::Aggregate {
            let fields: Vec<_> = graph.ty(access).fields().collect();
            let field = rng.pick(&fields);
            (access, offset) = (field.ty, offset + field.offset);
        }
        let size = graph.ty(access).size().unwrap();
        let wide = if access == base { size } else { 2 * size };
        let size = *rng.pick(&[size, size, size, size, wide, 0]);
        graph.builder().access_tag(base, access, offset, size).unwrap();
    }
    graph
}

/// `--cfg tbaa_self_check` compares each answer with the definition's.
#[test]
fn unions_of_arrays() {
    for rules in [AliasRule::Union, AliasRule::UnionStrict] {
        let (mut pairs, mut may) = (0, 0);
        for seed in 0..4 {
            let graph = deep_unions(seed);
            let oracle = Oracle::new(&graph, rules);
            let tags: Vec<_> = graph.tags().collect();
            for (at, &a) in tags.iter().enumerate() {
                pairs += at;
                may += tags[..at].iter().filter(|&&b| oracle.may_alias(a, b)).count();
            }
        }
        assert!(may > pairs / 50 && may < pairs / 2, "{rules}: {may} of {pairs}");
    }
}

//! Answers on many pairs at once, and from many threads.

use pretty_assertions::assert_eq;
use tbaa::{AliasRule, Format, Graph, Oracle};
use tbaa_tests::engines::Compared;
use tbaa_tests::random::{self, Grower, Growth, Shape, Universe};
use tbaa_tests::{Rng, setting};

/// Compares all engines (ways to compute answers) on some tags of random graphs of three shapes.
#[test]
fn larger_graphs_through_every_engine() {
    let first = setting("TBAA_SEED", 1);
    for seed in first..first + setting("TBAA_GRAPHS", 2) {
        for format in [Format::Old, Format::New] {
            for shape in [Shape::Any, Shape::PlainScalars, Shape::PlainAggregates] {
                let mut rng = Rng(seed as u64);
                let universe = Universe { format, structs: 2 + rng.below(30), tags: 90, shape };
                let graph = random::graph(&mut rng, &universe);
                let all: Vec<_> = graph.tags().collect();
                let tags: Vec<_> = (0..rng.below(60)).map(|_| *rng.pick(&all)).collect();
                let what = format!("seed {seed}, {format:?}");
                Compared::default().every_engine(&what, &graph, &tags);
            }
        }
    }
}

#[test]
fn threads_ask_at_once() {
    let universe = Universe { format: Format::Old, structs: 200, tags: 2_000, shape: Shape::Any };
    let graph = random::graph(&mut Rng(5), &universe);
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

/// Deeply nested arrays, unions and structs: some types contain more elements than the tables list.
#[test]
fn unions_of_arrays() {
    for rules in crate::UNION_RULES {
        let (mut pairs, mut may) = (0, 0);
        for seed in 0..4 {
            let (mut rng, mut graph) = (Rng(seed), Graph::new());
            let mut grower = Grower::new(&mut graph, Format::New, Growth::DEEP);
            (0..40).for_each(|_| _ = grower.add(&mut graph, &mut rng));
            for _ in 0..150 {
                let base = grower.pick(&mut rng);
                grower.tag(&mut graph, base, &mut rng);
            }
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

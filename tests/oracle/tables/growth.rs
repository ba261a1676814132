//! Graphs that grow, or are replaced by other graphs, between queries.

use std::borrow::Borrow;

use pretty_assertions::assert_eq;
use tbaa::{Access, AliasRule, Format, Graph, Oracle, TagId};
use tbaa_tests::random::{self, Shape, Universe};
use tbaa_tests::{Rng, setting, universe};

/// The new graph has types and tags at the same indices, so old data would give wrong answers.
#[test]
fn a_populated_graph_put_in_place_of_another_is_read_anew() {
    for rules in AliasRule::ALL {
        for seed in 1..=setting("TBAA_GRAPHS", 3) as u64 {
            let graph = |format, seed| {
                let mut rng = Rng(seed);
                let universe = Universe { format, structs: 8, tags: 40, shape: Shape::Any };
                random::graph(&mut rng, &universe)
            };
            for (format, other) in [(Format::Old, Format::New), (Format::New, Format::Old)] {
                let mut oracle = Oracle::new(graph(format, seed), rules);
                // The oracle caches answers on the old graph, and must drop them.
                let _ = answers(&oracle);
                oracle.update(|old| *old = graph(other, seed + 1000));
                let fresh = Oracle::new(oracle.graph(), rules);
                let what = format!("{rules}, seed {seed}, {format:?} to {other:?}");
                assert_eq!(answers(&oracle), answers(&fresh), "{what}");
            }
        }
    }
}

fn answers<G: Borrow<Graph>>(oracle: &Oracle<G>) -> Vec<bool> {
    let tags: Vec<_> = oracle.graph().tags().collect();
    let pairs = || tags.iter().flat_map(|&a| tags.iter().map(move |&b| (a, b)));
    let sized = |(a, b): (TagId, TagId)| {
        let size = 1 + (a.index() % 9) as u64;
        oracle.may_alias(Access::from(a).with_size(size), Access::from(b).with_size(16))
    };
    pairs().map(|(a, b)| oracle.may_alias(a, b)).chain(pairs().map(sized)).collect()
}

/// The oracle may cache all answers on at most 512 tags, and the latest answers on more tags.
#[test]
fn what_is_remembered_stays_as_tags_are_added() {
    // Adds a union of a new struct and a `float` that all unions share.
    let add = |graph: &mut Graph, number: u64| {
        let mut b = graph.builder();
        let root = b.root("R").unwrap();
        let [int, float] = ["int", "float"].map(|name| b.scalar_type(name, root).unwrap());
        let own = b.struct_type(format!("own {number}"), &[(int, 0), (float, 4)]).unwrap();
        let u = b.struct_type(format!("u {number}"), &[(own, 0), (float, 0)]).unwrap();
        [(u, int, 0), (u, float, 4), (u, float, 0), (own, float, 4)]
            .map(|(base, access, offset)| b.struct_tag(base, access, offset).unwrap())
    };
    for rules in AliasRule::ALL {
        let mut oracle = Oracle::new(Graph::new(), rules);
        let (mut tags, mut rng) = (Vec::new(), Rng(7));
        let mut asked: Vec<(TagId, TagId, bool)> = Vec::new();
        for round in 0..520 {
            tags.extend(oracle.update(|graph| add(graph, round)));
            for _ in 0..6 {
                let (a, b) = (*rng.pick(&tags), *rng.pick(&tags));
                asked.push((a, b, oracle.may_alias(a, b)));
            }
            // Pairs of tags of this round's union and its struct.
            let [.., a, b, c, d] = tags[..] else { unreachable!("a round adds four") };
            asked.extend([(a, c), (b, c), (c, d)].map(|(a, b)| (a, b, oracle.may_alias(a, b))));
            for _ in 0..6 {
                let &(a, b, may) = rng.pick(&asked);
                assert_eq!(oracle.may_alias(b, a), may, "{rules}, {} tags", tags.len());
            }
        }
        let fresh = Oracle::new(oracle.graph(), rules);
        assert!(tags.len() > 2_048 && asked.iter().any(|&(.., may)| may));
        for (a, b, may) in asked {
            assert_eq!([oracle.may_alias(a, b), fresh.may_alias(a, b)], [may; 2], "{rules}");
        }
    }
}

/// Answers are cached by tag and size together.
#[test]
fn accesses_of_any_size_are_told_apart() {
    let (mut u, root, [int]) = universe::Universe::of_scalars(true, 4, ["int"]);
    let ints: Vec<_> = (0..64).map(|member| (int, 4 * member, 4)).collect();
    let s = u.aggregate("S", root, 256, &ints);
    ints.iter().for_each(|&(_, offset, _)| _ = u.tag(s, int, offset, 4));
    // The first half of the structs have a tag for the second int, the others for the first.
    for number in 0..2_200 {
        let holder = u.aggregate(&format!("H{number}"), root, 256, &[(s, 0, 256)]);
        u.tag(holder, int, if number < 1_100 { 4 } else { 0 }, 4);
    }
    let (graph, tags) = u.graph();
    let (members, holders) = tags.split_at(64);
    for rules in crate::UNION_RULES {
        let oracle = Oracle::new(&graph, rules);
        for size in (0..8).chain(120..136) {
            for &a in &members[..4] {
                for &b in members {
                    let (a, b) = (Access::from(a), Access::from(b));
                    let may = oracle.may_alias(a.with_size(size), b);
                    assert_eq!(oracle.may_alias(b, a.with_size(size)), may);
                    assert_eq!(oracle.may_alias(a.with_size(size), b), may, "remembered");
                    let _ = oracle.may_alias(a, b.with_size(4));
                }
            }
        }
        let first = Access::from(members[0]);
        for number in 100..900 {
            let [second, same] =
                [number, number + 1_024].map(|at| Access::from(holders[at]).with_size(4));
            assert!(!oracle.may_alias(first.with_size(2), second), "{number}");
            assert!(oracle.may_alias(first.with_size(1), same), "{number}");
        }
    }
}

//! Graphs that grow between queries, or are put in place of one another.

use super::many::many_classes;
use super::{RULES, copy_node, each_graph};
use crate::support::random::{self, Shape, Universe};
use crate::support::{Rng, setting};
use pretty_assertions::assert_eq;
use tbaa::{AliasResult, Format, Graph, Oracle, Rules, TagId};

#[test]
fn answers_do_not_depend_on_how_the_graph_grew() {
    let mut pairs = 0;
    each_graph(setting("TBAA_GRAPHS", 6), |rng, what, graph| {
        let oracles = RULES.map(|rules| Oracle::new(graph, rules));
        for (rules, whole) in RULES.into_iter().zip(&oracles) {
            let mut grown = Oracle::new(Graph::new(), rules);
            let mut tags: Vec<(TagId, TagId)> = Vec::new();
            let mut next = 0;
            while next < graph.node_count() {
                // One node at a time, or many.
                let end = (next + 1 + if rng.one_in(4) { rng.below(40) } else { 0 })
                    .min(graph.node_count());
                let added = grown.update(|grown| {
                    let copied = (next..end).map(|index| copy_node(graph, index, grown));
                    copied.collect::<Vec<_>>()
                });
                for (index, new) in (next..end).zip(added) {
                    let node = graph.nodes().nth(index).unwrap();
                    tags.extend(graph.tag_of(node).zip(new));
                }
                next = end;
                if tags.is_empty() {
                    continue;
                }
                for _ in 0..12 {
                    let (a, b) = (*rng.pick(&tags), *rng.pick(&tags));
                    assert_eq!(
                        grown.alias(a.1, b.1),
                        whole.alias(a.0, b.0),
                        "{what}, {rules}: {:?} and {:?} in a graph of {next} nodes",
                        graph.tag(a.0),
                        graph.tag(b.0)
                    );
                    pairs += 1;
                }
            }
            for a in &tags {
                for b in &tags {
                    assert_eq!(grown.alias(a.1, b.1), whole.alias(a.0, b.0), "{what}, {rules}");
                    pairs += 1;
                }
            }
        }
    });
    println!("{pairs} pairs in graphs that grew");
}

#[test]
fn a_graph_put_in_place_of_another_is_read_anew() {
    let mut oracle = Oracle::new(many_classes(0), Rules::Llvm);
    let old = oracle.graph().tags().next().unwrap();
    let (int, float) = oracle.update(|graph| {
        *graph = Graph::new();
        let mut b = graph.builder();
        let root = b.root("R").unwrap();
        let int = b.scalar_type("int", root).unwrap();
        let float = b.scalar_type("float", root).unwrap();
        let tag = |b: &mut tbaa::Builder<'_>, ty| b.struct_tag(ty, ty, 0, false).unwrap();
        (tag(&mut b, int), tag(&mut b, float))
    });
    assert_eq!(oracle.alias(int, float), AliasResult::NoAlias);
    assert_eq!(oracle.alias(int, old), AliasResult::MayAlias, "of the graph before");
}

/// A graph of the other format, with unions and tags at the same indices, so
/// that whatever is kept of the old one gives wrong answers.
#[test]
fn a_populated_graph_put_in_place_of_another_is_read_anew() {
    for rules in RULES {
        for seed in 1..=setting("TBAA_GRAPHS", 6) as u64 {
            let graph = |format, seed| {
                let mut rng = Rng(seed);
                let universe = Universe { format, structs: 8, tags: 40, shape: Shape::Any };
                random::graph(&mut rng, &universe)
            };
            for (format, other) in [(Format::Old, Format::New), (Format::New, Format::Old)] {
                let mut oracle = Oracle::new(graph(format, seed), rules);
                oracle.update(|old| *old = graph(other, seed + 1000));
                let fresh = Oracle::new(oracle.graph(), rules);
                let tags: Vec<_> = oracle.graph().tags().collect();
                for &a in &tags {
                    for &b in &tags {
                        let what = format!("{rules}, seed {seed}, {format:?} to {other:?}");
                        assert_eq!(oracle.alias(a, b), fresh.alias(a, b), "{what}");
                    }
                }
            }
        }
    }
}

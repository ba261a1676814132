//! Functions for programs that embed the library: clones, and finding tags by index or by parts.

use pretty_assertions::assert_eq;
use tbaa::{AliasResult, Format, Graph, GraphError, Oracle, Size};
use tbaa_tests::random::{self, Shape, Universe};
use tbaa_tests::{Rng, setting};

fn random_graph(seed: u64) -> Graph {
    let format = if seed.is_multiple_of(2) { Format::Old } else { Format::New };
    let universe = Universe { format, structs: 10, tags: 40, shape: Shape::Any };
    random::graph(&mut Rng(seed), &universe)
}

#[test]
fn a_clone_grows_apart_and_no_id_is_taken_for_another() {
    let graph = random_graph(1);
    let (mut one, mut two) = (graph.clone(), graph.clone());
    assert!(one == graph && two == graph);
    let add = |graph: &mut Graph, name: &str| {
        let mut b = graph.builder();
        let root = b.root("R2").unwrap();
        let ty = b.scalar_type(name, root).unwrap();
        b.struct_tag(ty, ty, 0).unwrap()
    };
    let (int, float) = (add(&mut one, "int"), add(&mut two, "float"));
    // The two tags have the same index, but each belongs only to its own clone.
    assert_eq!(int.index(), float.index());
    assert!(one != two && !one.owns_tag(float) && !two.owns_tag(int));
    assert_eq!(graph.tag_count(), int.index());
    // Adding an equal node to a clone gives the node that was added before.
    let known = one.node_count();
    assert_eq!(add(&mut one, "int"), int);
    assert_eq!(one.node_count(), known);
    for rules in tbaa::AliasRule::ALL {
        let (of_one, whole) = (Oracle::new(&one, rules), Oracle::new(&graph, rules));
        assert_eq!(of_one.alias(int, float), AliasResult::MayAlias);
        for (a, b) in graph.tags().zip(graph.tags().rev()) {
            let [x, y] = [a, b].map(|tag| one.tag_at(tag.index()).unwrap());
            assert_eq!(of_one.alias(x, y), whole.alias(a, b), "{rules}");
            assert_eq!(of_one.alias(a, b), AliasResult::MayAlias, "ids of the original");
        }
    }
    assert_eq!(one.tag_at(one.tag_count()), None);
}

#[test]
fn a_clone_put_in_the_place_of_its_original_is_read() {
    for rules in tbaa::AliasRule::ALL {
        let mut graph = Graph::new();
        let mut b = graph.builder();
        let root = b.root("R").unwrap();
        let [int, float] = ["int", "float"].map(|name| b.scalar_type(name, root).unwrap());
        b.struct_tag(int, int, 0).unwrap();
        let mut other = graph.clone();
        let mut oracle = Oracle::new(graph, rules);
        oracle.update(|graph| graph.builder().struct_tag(float, float, 0).unwrap());
        let types: Vec<_> = other.types().collect();
        let pair = other.builder().struct_type("S", &[(types[1], 0)]).unwrap();
        let new = other.builder().struct_tag(pair, types[1], 0).unwrap();
        let old = other.tag_at(0).unwrap();
        let answer = Oracle::new(&other, rules).alias(old, new);
        assert_eq!(answer, AliasResult::MayAlias);
        oracle.update(|graph| *graph = other);
        assert_eq!(oracle.alias(old, new), answer, "{rules}");
    }
}

#[test]
fn a_tag_is_found_by_its_parts() {
    for seed in 0..setting("TBAA_GRAPHS", 6) as u64 {
        let mut graph = random_graph(seed);
        for tag in graph.tags().collect::<Vec<_>>() {
            let parts = graph.tag(tag).unwrap();
            let again = graph.insert_tag(parts).unwrap();
            // `insert_tag` writes an unknown size as 2^64-1; the original may have 0.
            assert!(again == tag || parts.size == Some(Size::Unknown));
            assert_eq!(graph.tag(again), Ok(parts));
            assert_eq!(graph.tag_at(tag.index()), Some(tag));
            let mut other = parts;
            other.immutable = !parts.immutable;
            let other = graph.insert_tag(other).unwrap();
            assert_eq!(graph.tag(other).unwrap().immutable, !parts.immutable);
        }
        let parts = graph.tag(graph.tag_at(0).unwrap()).unwrap();
        let format = if parts.format == Format::Old { Format::New } else { Format::Old };
        for (size, format) in [
            (parts.size, format),
            (parts.size.xor(Some(Size::Bytes(4))), format),
            (parts.size.xor(Some(Size::Bytes(4))), parts.format),
        ] {
            let tag = tbaa::Tag { size, format, ..parts };
            assert_eq!(graph.insert_tag(tag), Err(GraphError::TagFormat));
        }
        assert_eq!(Graph::new().insert_tag(parts), Err(GraphError::ForeignId));
    }
}

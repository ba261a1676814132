//! A graph that a builder made is equal after it is written as a spec and read again.

use tbaa::Graph;
use tbaa::spec::{Spec, write};
use tbaa_tests::{Rng, cases, fuzz};

#[test]
fn graphs_that_a_builder_made_survive() {
    let (mut tags, mut copies, mut types) = (0, 0, 0);
    for seed in 1..=500 {
        let mut rng = Rng(seed);
        let graph = fuzz::graph(&[(); 1_200].map(|()| rng.next() as u8));
        let text = write(&graph);
        let built = Spec::load(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        assert_eq!(*built.graph(), graph, "seed {seed}\n{text}");
        assert!(!text.contains("// left out"), "seed {seed}\n{text}");
        assert!(!text.contains("// rewritten"), "seed {seed}\n{text}");
        assert_eq!(write(built.graph()), text, "seed {seed}");
        tags += graph.tag_count();
        copies += graph.copies().count();
        types += graph.types().count();
    }
    assert!(tags > 1_000 && copies > 200 && types > 5_000, "{tags} {copies} {types}");
}

#[test]
fn many_types_of_one_name_are_written_in_time() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    for _ in 0..20_000 {
        let root = b.anonymous_root().unwrap();
        let int = b.scalar_type("int", root).unwrap();
        b.struct_tag(int, int, 0).unwrap();
    }
    let text = write(&graph);
    assert!(
        text.contains("Scalar(name: \"int\", key: \"int#20000\", parent: \"anonymous#20000\")")
    );
    assert_eq!(*Spec::load(&text).unwrap().graph(), graph);
}

#[test]
fn a_chain_as_deep_as_memory_allows_does_not_overflow_the_stack() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let mut ty = b.root("R").unwrap();
    for depth in 0..20_000 {
        ty = b.scalar_type(format!("{depth}"), ty).unwrap();
    }
    assert_eq!(*Spec::load(&write(&graph)).unwrap().graph(), graph);
}

#[test]
fn graphs_that_were_read_are_written_as_the_file_says() {
    cases::check("specs/written.txt", |_, parts| {
        let text = write(tbaa_ir::read(parts[0].as_bytes()).unwrap().graph());
        Spec::load(&text).unwrap();
        text
    });
}

//! Graphs written as specs: equal again when read, whatever is in them.

use tbaa::spec::{Spec, write};
use tbaa::{BuildError, CopyEntry, Format, Graph, Size, SizedField, Tag, TagId, TypeId};
use tbaa_tests::{Rng, cases};

/// Names that clash with each other, with keys that are made up, and with RON.
const NAMES: [&[u8]; 12] = [
    b"int",
    b"int#2",
    b"int#3",
    b"",
    b"anonymous",
    b"empty",
    b"a\"b\\c\n",
    b"\xff\xfe\\41",
    "caf\u{e9}\u{2028}\u{200f}".as_bytes(),
    b"\0",
    b"S+4",
    b"*/ // (",
];

/// Makes a graph by random requests, many of which are refused.
fn random_graph(random: &mut Rng) -> Graph {
    let mut graph = Graph::new();
    let mut types: Vec<TypeId> = Vec::new();
    let mut tags: Vec<TagId> = Vec::new();
    let mut b = graph.builder();
    types.push(b.root("first").unwrap());
    for _ in 0..80 {
        let name = *random.pick(&NAMES);
        let [one, two] = [*random.pick(&types), *random.pick(&types)];
        let offsets = [random.below(3) as u64 * 4, 8 + random.below(3) as u64 * 4];
        let made: Result<(), BuildError> = match random.below(16) {
            0 => b.root(name).map(|ty| types.push(ty)),
            1 => b.anonymous_root().map(|ty| types.push(ty)),
            2 => b.empty_root().map(|ty| types.push(ty)),
            3 | 4 => b.scalar_type(name, one).map(|ty| types.push(ty)),
            5 => b.struct_type(name, &[(one, 0)]).map(|ty| types.push(ty)),
            6 => {
                let fields = [(one, offsets[0]), (two, offsets[1])];
                b.struct_type(name, &fields).map(|ty| types.push(ty))
            }
            7 => b.sized_type(one, offsets[0], name, &[]).map(|ty| types.push(ty)),
            8 => {
                let field = |ty, offset| SizedField { ty, offset, size: 4 };
                let fields = [field(two, offsets[0]), field(two, offsets[1])];
                b.sized_type(one, 24, name, &fields).map(|ty| types.push(ty))
            }
            9..=12 => {
                let immutable = random.below(2) == 0;
                let offset = *random.pick(&[0, 0, offsets[0], offsets[1]]);
                let size = *random.pick(&[Size::Unknown, Size::Bytes(4)]);
                let (base, access, format) = (one, two, Format::Old);
                let old = Tag { base, access, offset, size: None, immutable, format };
                b.tag(old)
                    .or_else(|_| b.tag(Tag { size: Some(size), format: Format::New, ..old }))
                    .map(|tag| tags.push(tag))
            }
            13 | 14 => b.struct_tag(one, one, 0).map(|tag| tags.push(tag)),
            _ if tags.is_empty() => Ok(()),
            _ => {
                let [first, second] = [*random.pick(&tags), *random.pick(&tags)];
                let entry = |offset, tag| CopyEntry { offset, size: 4, tag };
                b.struct_copy(&[entry(0, first), entry(offsets[1], second)]).map(drop)
            }
        };
        // A refused tag is ignored.
        drop(made);
    }
    // LLVM writes an unknown size as 2^64-1 when it merges tags.
    for tag in tags.into_iter().step_by(2) {
        graph.insert_tag(graph.tag(tag).unwrap()).unwrap();
    }
    graph
}

#[test]
fn graphs_that_a_builder_made_survive() {
    let (mut tags, mut copies, mut types) = (0, 0, 0);
    for seed in 1..=500 {
        let graph = random_graph(&mut Rng(seed));
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

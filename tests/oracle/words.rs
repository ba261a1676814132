//! Tests the text of explanations.

use pretty_assertions::assert_eq;
use tbaa::{AliasRule, Graph, Oracle, SizedField};

/// A path shows one byte, a range of bytes, or a range that repeats. A field is shown as an array
/// if it contains more than one object, or is a flexible array.
#[test]
fn paths_name_arrays_and_bytes() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let char = b.sized_type(root, 1, "char", &[]).unwrap();
    let int = b.sized_type(root, 4, "int", &[]).unwrap();
    let field = |ty, offset, size| SizedField { ty, offset, size };
    let fields = [field(char, 0, 1), field(int, 4, 4), field(int, 8, 8), field(int, 16, 0)];
    let s = b.sized_type(root, 16, "S", &fields).unwrap();
    let tags = [(char, 0, 1), (int, 4, 4), (int, 8, 4), (int, 16, 4)]
        .map(|(ty, offset, size)| b.access_tag(s, ty, offset, size).unwrap());
    let oracle = Oracle::new(&graph, AliasRule::Union);
    let paths = [0, 1, 2, 3].map(|at: usize| {
        let why = oracle.explain(tags[(at + 1) % 4], tags[at]);
        why.comparison.unwrap().b.to_string()
    });
    assert_eq!(
        paths,
        [
            "field 0 at 0: char; bytes 0",
            "field 1 at 4: int; bytes 4-7",
            "field 2 at 8: int[]; bytes 8-11, every 4 (2 times)",
            "field 3 at 16: int[]; bytes 16-19, every 4",
        ]
    );
}

/// `union { struct { int x; float y; } a[n]; struct { float p; int q; } b[n]; }`.
#[test]
fn a_division_tells_elements_apart() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let [int, float] = ["int", "float"].map(|name| b.sized_type(root, 4, name, &[]).unwrap());
    let field = |ty, offset, size| SizedField { ty, offset, size };
    let xy = b.sized_type(root, 8, "xy", &[field(int, 0, 4), field(float, 4, 4)]).unwrap();
    let pq = b.sized_type(root, 8, "pq", &[field(float, 0, 4), field(int, 4, 4)]).unwrap();
    let size = 8_000_000_000;
    let u = b.sized_type(root, size, "U", &[field(xy, 0, size), field(pq, 0, size)]).unwrap();
    let [y, p] = [4, 0].map(|at| b.access_tag(u, float, at, 4).unwrap());
    for rules in [AliasRule::Union, AliasRule::UnionStrict] {
        let why = Oracle::new(&graph, rules).explain(y, p).to_string();
        assert!(why.ends_with("\n  distances are 4 modulo 8, the bytes need -3..3"), "{why}");
    }
}

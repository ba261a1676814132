//! Tests the text of explanations.

use pretty_assertions::assert_eq;
use tbaa::{AliasRule, Oracle};
use tbaa_tests::universe::Universe;

/// A path shows one byte, a range of bytes, or a range that repeats. A field is shown as an array
/// if it contains more than one element, or is a flexible array.
#[test]
fn paths_name_arrays_and_bytes() {
    let (mut u, root, [int]) = Universe::of_scalars(true, 4, ["int"]);
    let char = u.scalar("char", root, 1);
    let s = u.aggregate("S", root, 16, &[(char, 0, 1), (int, 4, 4), (int, 8, 8), (int, 16, 0)]);
    for (ty, offset, size) in [(char, 0, 1), (int, 4, 4), (int, 8, 4), (int, 16, 4)] {
        u.tag(s, ty, offset, size);
    }
    let (graph, tags) = u.graph();
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

/// `union { struct { int x; float y; } a[n]; struct { float p; int q; } b[n]; }`, `n` = 10^9.
#[test]
fn a_division_tells_elements_apart() {
    let (mut u, root, [int, float]) = Universe::of_scalars(true, 4, ["int", "float"]);
    let xy = u.aggregate("xy", root, 8, &[(int, 0, 4), (float, 4, 4)]);
    let pq = u.aggregate("pq", root, 8, &[(float, 0, 4), (int, 4, 4)]);
    let size = 8_000_000_000;
    let union = u.aggregate("U", root, size, &[(xy, 0, size), (pq, 0, size)]);
    let [y, p] = [4, 0].map(|offset| u.tag(union, float, offset, 4));
    let (graph, tags) = u.graph();
    for rules in crate::UNION_RULES {
        let why = Oracle::new(&graph, rules).explain(tags[y], tags[p]).to_string();
        assert!(why.ends_with("\n  distances are 4 modulo 8, the bytes need -3..3"), "{why}");
    }
}

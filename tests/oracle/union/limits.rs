//! Sizes and shapes that plain enumeration could not handle.

use tbaa::explain::Clause;
use tbaa::{Graph, Oracle, TagId};
use tbaa_tests::universe::Universe;

use crate::UNION_RULES;

/// Returns the clauses by which rules `union` and `union-strict` decide on two tags.
fn clauses((graph, tags): &(Graph, Vec<TagId>), a: usize, b: usize) -> [Clause; 2] {
    UNION_RULES.map(|rules| Oracle::new(graph, rules).explain(tags[a], tags[b]).clause)
}

#[test]
fn nesting_a_thousand_deep() {
    let (mut u, root, [int, float]) = Universe::of_scalars(true, 4, ["int", "float"]);
    let mut nested = u.aggregate("U0", root, 4, &[(int, 0, 4), (float, 0, 4)]);
    for depth in 1..=1_000_u64 {
        let size = 4 + 4 * depth;
        let name = format!("U{depth}");
        nested = u.aggregate(&name, root, size, &[(nested, 0, size - 4), (int, size - 4, 4)]);
    }
    let deep_int = u.tag(nested, int, 0, 4);
    let deep_float = u.tag(nested, float, 0, 4);
    let last = u.tag(nested, int, 4_000, 4);
    let bare = u.tag(float, float, 0, 4);
    let world = u.graph();
    assert_eq!(clauses(&world, deep_int, deep_float), [Clause::Overlap; 2]);
    assert_eq!(clauses(&world, deep_float, last), [Clause::Apart; 2]);
    assert_eq!(clauses(&world, deep_int, bare), [Clause::Overlap, Clause::Parted]);
}

/// The search would reach its limit if it visited members that cannot lead to the access.
#[test]
fn many_members_at_one_offset() {
    for (sized, count) in [(true, 10_000), (false, 10_000), (false, 60_000)] {
        let (mut u, root, [other]) = Universe::of_scalars(sized, 4, ["other"]);
        let scalar = |number| (u.scalar(&format!("s{number}"), root, 4), 0, 4);
        let mut fields: Vec<_> = (0..count).map(scalar).collect();
        fields.extend([fields[0], (other, 4, 4)]);
        let union = u.aggregate("U", root, 8, &fields);
        let a = u.tag(union, fields[17].0, 0, 4);
        let b = u.tag(union, fields[count - 1].0, 0, 4);
        let after = u.tag(union, other, 4, 4);
        let bare = u.tag(fields[3].0, fields[3].0, 0, 4);
        let world = u.graph();
        for rules in UNION_RULES {
            let (oracle, [a, b]) = (Oracle::new(&world.0, rules), [a, b].map(|tag| world.1[tag]));
            assert!(oracle.is_well_formed(a) && oracle.is_well_formed(b), "{rules}");
            assert!(oracle.may_alias(a, b), "{rules}");
        }
        if count == 10_000 {
            assert_eq!(clauses(&world, a, b), [Clause::Overlap; 2]);
            let apart = if sized { Clause::Apart } else { Clause::Overlap };
            assert_eq!(clauses(&world, a, after), [apart; 2]);
            assert_eq!(clauses(&world, a, bare), [Clause::Overlap, Clause::Parted]);
        }
    }
}

/// 2^500 paths lead to the same bytes.
#[test]
fn a_diamond_of_unions() {
    for sized in [true, false] {
        let (mut u, root, [int, float]) = Universe::of_scalars(sized, 4, ["int", "float"]);
        let mut top = u.aggregate("U", root, 4, &[(int, 0, 4), (float, 0, 4)]);
        for depth in 0..500 {
            top = u.aggregate(&format!("D{depth}"), root, 4, &[(top, 0, 4), (top, 0, 4)]);
        }
        let s = u.aggregate("S", root, 8, &[(top, 0, 4), (int, 4, 4)]);
        let i = u.tag(s, int, 0, 4);
        let f = u.tag(s, float, 0, 4);
        let after = u.tag(s, int, 4, 4);
        let world = u.graph();
        assert_eq!(clauses(&world, i, f), [Clause::Overlap; 2]);
        assert_eq!(clauses(&world, f, after), [Clause::Apart; 2]);
    }
}

/// `top` contains 2^40 pairs at different offsets; only pairs near the access are examined.
#[test]
fn doubling_structs() {
    let (mut u, root, [int, float]) = Universe::of_scalars(true, 4, ["int", "float"]);
    let pair = u.aggregate("pair", root, 8, &[(int, 0, 4), (float, 4, 4)]);
    let mut top = pair;
    for depth in 0..40 {
        let (name, size) = (format!("D{depth}"), 8 << depth);
        top = u.aggregate(&name, root, 2 * size, &[(top, 0, size), (top, size, size)]);
    }
    let first = u.tag(top, int, 0, 4);
    let far = u.tag(top, float, 8 * 1_234_567 + 4, 4);
    let pair_int = u.tag(pair, int, 0, 4);
    let pair_float = u.tag(pair, float, 4, 4);
    let world = u.graph();
    assert_eq!(clauses(&world, first, far), [Clause::Apart; 2]);
    assert_eq!(clauses(&world, far, pair_float), [Clause::Overlap; 2]);
    assert_eq!(clauses(&world, far, pair_int), [Clause::Apart; 2]);
}

/// Finding fields that lead to an offset is the subset-sum problem: the search stops at a limit.
#[test]
fn subset_sum_gives_up_soundly() {
    for sized in [true, false] {
        let (mut u, root, [int, float]) = Universe::of_scalars(sized, 4, ["int", "float"]);
        let mut top = u.aggregate("U", root, 4, &[(int, 0, 4), (float, 0, 4)]);
        let mut sum = 0;
        for depth in 0..60_u64 {
            let offset = (1 << 40) + depth * depth * 7_919 * 64;
            sum += offset;
            let fields = [(top, 0, sum + 4), (top, offset, sum + 4)];
            top = u.aggregate(&format!("D{depth}"), root, sum + offset + 4, &fields);
        }
        let a = u.tag(top, int, 30 << 40, 4);
        let b = u.tag(top, float, (30 << 40) + 64, 4);
        let world = u.graph();
        assert!(clauses(&world, a, b).iter().all(|clause| !clause.is_no_alias()));
    }
}

/// A struct that contains itself. The builder cannot make such a struct, but a text can.
#[test]
fn types_that_contain_themselves() {
    let text = r#"!0 = !{!"R"} !1 = !{!"int", !0, i64 0} !2 = !{!"float", !0, i64 0}
        !3 = distinct !{!"S", !1, i64 0, !3, i64 4} !4 = !{!"O", !1, i64 0, !3, i64 4}
        !5 = !{!3, !1, i64 0} !6 = !{!4, !1, i64 0} !7 = !{!1, !1, i64 0} !8 = !{!2, !2, i64 0}
        !tbaa.tags = !{!5, !6, !7, !8}"#;
    let graph = tbaa_ir::read(text.as_bytes()).unwrap().into_graph();
    let [in_loop, over_loop, plain, other] = graph.tags().collect::<Vec<_>>()[..] else {
        panic!("four tags")
    };
    for rules in UNION_RULES {
        let oracle = Oracle::new(&graph, rules);
        assert_eq!(oracle.explain(in_loop, other).clause, Clause::Malformed);
        assert_eq!(oracle.explain(over_loop, other).clause, Clause::Malformed);
        assert!(!oracle.may_alias(plain, other));
    }
}

#[test]
fn a_chain_of_a_hundred_thousand_types() {
    let (mut u, root, [int, float]) = Universe::of_scalars(false, 0, ["int", "float"]);
    // A `float` in `top` follows the inner struct. In `crooked`, it begins inside the inner struct.
    let (mut top, mut crooked) = (int, int);
    for depth in 0..100_000 {
        top = u.aggregate(&format!("S{depth}"), root, 0, &[(top, 0, 0), (float, 4 * depth + 4, 0)]);
        crooked = u.aggregate(&format!("C{depth}"), root, 0, &[(crooked, 0, 0), (float, 8, 0)]);
    }
    let i = u.tag(top, int, 0, 0);
    let f = u.tag(top, float, 400_000, 0);
    let bare = u.tag(int, int, 0, 0);
    let (crooked_i, crooked_f) = (u.tag(crooked, int, 0, 0), u.tag(crooked, float, 8, 0));
    let world = u.graph();
    assert_eq!(clauses(&world, i, f), [Clause::Apart; 2]);
    assert_eq!(clauses(&world, i, bare), [Clause::Generality; 2]);
    // The search stops before it has seen all types.
    assert_eq!(clauses(&world, crooked_i, crooked_f), [Clause::Limit; 2]);
    assert_eq!(clauses(&world, crooked_i, bare), [Clause::Generality; 2]);
}

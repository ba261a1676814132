//! Graphs on which the oracle's tables once failed, or which random generation does not produce.

use pretty_assertions::assert_eq;
use tbaa::explain::Clause;
use tbaa::raw::{Draft, DraftOperand, RawGraph};
use tbaa::wellformed::Verifier;
use tbaa::{AliasResult, AliasRule, Format, Graph, Operand, Oracle, SizedField, TypeId};
use tbaa_tests::engines::{Compared, copy_node, grown};
use tbaa_tests::random::{self, Shape};
use tbaa_tests::universe::Universe;
use tbaa_tests::{Rng, setting};

use crate::{UNION_RULES, two_roots};

/// In a long chain of structs accessed whole, too many types contain one another for the tables.
#[test]
fn beyond_the_tables_the_definition_answers() {
    let (mut u, _, [char]) = Universe::of_scalars(true, 1, ["char"]);
    let int = u.scalar("int", char, 4);
    let mut ty = int;
    for size in (4..2_408).step_by(4) {
        u.tag(ty, ty, 0, size);
        u.tag(ty, int, size - 4, 4);
        ty = u.aggregate(&format!("S{size}"), char, size + 4, &[(ty, 0, size), (int, size, 4)]);
    }
    let (graph, tags) = u.graph();
    for rules in AliasRule::ALL {
        let oracle = Oracle::new(&graph, rules);
        let mut rng = Rng(3);
        for _ in 0..400 {
            let (a, b) = (*rng.pick(&tags), *rng.pick(&tags));
            // `explain` uses the definition.
            assert_eq!(oracle.alias(a, b), oracle.explain(a, b).answer, "{rules}: {a:?} {b:?}");
        }
    }
}

/// Structs nest deeper than the tables search, and get tags before or after their contents do.
#[test]
fn whole_accesses_in_a_deep_chain() {
    const DEPTH: usize = 90;
    for (whole_first, every) in [(true, 5), (false, 5), (true, 30)] {
        let (mut u, root, [int, float]) = Universe::of_scalars(true, 4, ["int", "float"]);
        let around = |u: &mut Universe, (inner, size): (usize, u64)| {
            let name = format!("S{}", u.types.len());
            (u.aggregate(&name, root, size + 4, &[(int, 0, 4), (inner, 4, size)]), size + 4)
        };
        let mut types = vec![(u.aggregate("S", root, 8, &[(int, 0, 4), (float, 4, 4)]), 8)];
        for i in 1..DEPTH {
            types.push(around(&mut u, types[i - 1]));
        }
        let (mut whole, mut inside) = (Vec::new(), Vec::new());
        for now_whole in [whole_first, !whole_first] {
            if now_whole {
                let some = types.iter().step_by(every);
                whole.extend(some.map(|&(ty, size)| u.tag(ty, ty, 0, size)));
            } else {
                let some = types[DEPTH - 8..].iter().rev();
                inside.extend(some.map(|&(ty, size)| u.tag(ty, float, size - 4, 4)));
            }
        }
        let mut inner = types[DEPTH - 1];
        for i in 0..6 {
            let outer = around(&mut u, inner);
            if i % 3 == 0 {
                whole.push(u.tag(outer.0, outer.0, 0, outer.1));
            }
            inside.push(u.tag(outer.0, float, inner.1, 4));
            if i == 2 {
                whole.push(u.tag(inner.0, inner.0, 0, inner.1));
                (0..60).for_each(|at| _ = u.tag(types[DEPTH - 1].0, int, 4 * at, 4));
            }
            inner = outer;
        }
        let (graph, tags) = u.graph();
        for rules in AliasRule::ALL {
            let (grown, ids) = grown(&graph, rules).unwrap();
            let new = |tag| grown.graph().tag_of(ids[graph.tag_node(tag).index()]);
            let oracle = Oracle::new(&graph, rules);
            let whole: Vec<_> = whole.iter().map(|&at| tags[at]).collect();
            for a in inside.iter().map(|&at| tags[at]) {
                let matrix = oracle.matrix(&[&[a], &whole[..]].concat());
                for (i, &b) in whole.iter().enumerate() {
                    let may = oracle.may_alias(a, b);
                    assert_eq!(matrix.may_alias(0, i + 1), may, "{rules}");
                    assert_eq!(grown.may_alias(new(a), new(b)), may, "{rules}");
                }
            }
        }
    }
}

#[test]
fn offsets_beyond_32_bits() {
    let far = 1_u64 << 32;
    let offsets =
        [0, 4, far - 2, far - 1, far, far + 1, 2 * far - 1, 2 * far, 2 * far + 4, 1 << 40];
    for sized in [false, true] {
        let (mut u, root, [int, float]) = Universe::of_scalars(sized, 1, ["int", "float"]);
        let size = (1 << 40) + 1;
        let inner = u.aggregate("S", root, size, &offsets.map(|offset| (int, offset, 1)));
        let union = u.aggregate("U", root, size, &[(float, 0, 1), (inner, 0, size)]);
        let outer = u.aggregate("T", root, far + size, &[(int, 0, 1), (union, far, size)]);
        for (base, start) in [(inner, 0), (union, 0), (outer, far)] {
            offsets.iter().for_each(|offset| _ = u.tag(base, int, start + offset, 1));
        }
        let (graph, tags) = u.graph();
        Compared::default().every_engine("far offsets", &graph, &tags);
        let tags = &tags[..offsets.len()];
        for rules in AliasRule::ALL {
            let oracle = Oracle::new(&graph, rules);
            for (i, &a) in tags.iter().enumerate() {
                let row: Vec<_> = (0..tags.len()).map(|j| i == j).collect();
                assert_eq!(oracle.row(a, tags), row, "sized: {sized}, {rules}: {i}");
            }
        }
    }
}

/// A struct with too many members to list, accessed whole, and through a type that contains it.
#[test]
fn a_crowded_struct_lies_inside_others() {
    let (mut u, _, [char]) = Universe::of_scalars(true, 1, ["char"]);
    let [int, float] = ["int", "float"].map(|name| u.scalar(name, char, 4));
    let fields: Vec<_> = (0..9_000).map(|i| (int, 4 * i, 4)).collect();
    let inner = u.aggregate("S", char, 36_000, &fields);
    let outer = u.aggregate("T", char, 36_004, &[(float, 0, 4), (inner, 4, 36_000)]);
    u.tag(inner, inner, 0, 36_000);
    u.tag(outer, int, 404, 4);
    u.tag(outer, float, 0, 4);
    let (graph, tags) = u.graph();
    for rules in AliasRule::ALL {
        let row = Oracle::new(&graph, rules).row(tags[0], &tags);
        assert_eq!(row, [true, true, false], "{rules}");
    }
}

/// If the closure of `Oracle::update` panics, the nodes that it added before are not lost.
#[test]
fn a_change_that_panics_is_taken_note_of() {
    for rules in AliasRule::ALL {
        let mut oracle = Oracle::new(Graph::new(), rules);
        let mut tags = Vec::new();
        let change = std::panic::AssertUnwindSafe(|| {
            oracle.update(|graph| {
                let mut b = graph.builder();
                let root = b.root("R").unwrap();
                for name in ["int", "float"] {
                    let ty = b.scalar_type(name, root).unwrap();
                    tags.push(b.struct_tag(ty, ty, 0).unwrap());
                }
                panic!("on purpose");
            });
        });
        assert!(std::panic::catch_unwind(change).is_err());
        assert_eq!(oracle.alias(tags[0], tags[1]), AliasResult::NoAlias, "{rules}");
    }
}

/// Tags that may alias everything, among ordinary ones.
#[test]
fn many_pairs_with_malformed_and_foreign_tags() {
    let mut other = Graph::new();
    let node = other.insert(&[Operand::String(b"R")]).unwrap();
    let foreign = other.mark_tag(node);
    let (mut u, root, [int, float]) = Universe::of_scalars(false, 0, ["int", "float"]);
    let union = u.aggregate("U", root, 0, &[(int, 0, 0), (float, 0, 0)]);
    for (base, access) in [(int, int), (float, float), (union, float)] {
        u.tag(base, access, 0, 0);
    }
    let (mut graph, tags) = u.graph();
    let node = graph.insert(&[Operand::String(b"no tag")]).unwrap();
    let tags = [tags[0], foreign, tags[1], graph.mark_tag(node), tags[2], foreign];
    for rules in AliasRule::ALL {
        let oracle = Oracle::new(&graph, rules);
        let (matrix, classes) = (oracle.matrix(&tags), oracle.classes(&tags));
        let rows = tags.map(|tag| oracle.row(tag, &tags));
        assert!(rows[1] == [true; 6] && !rows[0][2], "{rules}");
        for (i, row) in rows.iter().enumerate() {
            for (j, &may) in row.iter().enumerate() {
                assert_eq!(matrix.may_alias(i, j), may, "{rules}");
                let alike = classes.as_slice()[i] == classes.as_slice()[j];
                assert_eq!(alike, rows[i] == rows[j], "{rules}: {i}, {j}");
            }
        }
    }
}

/// Old-format tags are added before and after size-aware tags of the same root.
#[test]
fn both_formats_under_one_root() {
    let mut pairs = 0;
    for seed in 0..setting("TBAA_GRAPHS", 3) {
        let mut rng = Rng(seed as u64);
        let parts = [Format::Old, Format::New, Format::Old].map(|format| {
            let shape = *rng.pick(&[Shape::Any, Shape::Parented]);
            random::graph(&mut rng, &random::Universe { format, structs: 6, tags: 25, shape })
        });
        let mut oracles = AliasRule::ALL.map(|rules| Oracle::new(Graph::new(), rules));
        for part in &parts {
            for oracle in &mut oracles {
                oracle.update(|graph| {
                    let mut ids = Vec::new();
                    part.nodes().for_each(|node| copy_node(part, node, graph, &mut ids));
                    part.tags().for_each(|tag| {
                        _ = graph.mark_tag(ids[part.tag_node(tag).index()]);
                    });
                });
            }
        }
        for oracle in &oracles {
            let tags: Vec<_> = oracle.graph().tags().collect();
            for (&a, &b) in tags.iter().flat_map(|a| tags.iter().map(move |b| (a, b))) {
                let why = oracle.explain(a, b);
                assert_eq!(oracle.alias(a, b), why.answer, "seed {seed}: {why}");
                pairs += 1;
            }
        }
    }
    assert!(pairs > 0);
}

/// A cycle of types is added at once, so on some paths a struct has a member with a higher index.
#[test]
fn walks_to_newer_types() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let int = b.sized_type(root, 4, "int", &[]).unwrap();
    let a = b.sized_type(root, 4, "A", &[SizedField { ty: int, offset: 0, size: 4 }]).unwrap();
    let node = |ty: TypeId| DraftOperand::from(Operand::Node(ty.node()));
    let number = |value| DraftOperand::from(Operand::Int(tbaa::Int::i64(value)));
    let name = |name: &'static str| DraftOperand::from(Operand::String(name.as_bytes()));
    // Returns a struct that contains an `A`, and the struct with index `inner` in the group.
    let aggregate = |of, inner, offset, size| {
        let first = [node(root), number(400), name(of), node(a), number(0), number(4)];
        let second = [DraftOperand::Member(inner), number(offset), number(size)];
        Draft { distinct: false, operands: first.into_iter().chain(second).collect() }
    };
    let group = [aggregate("B", 1, 100, 300), aggregate("Z", 0, 200, 100)];
    let ids = graph.insert_group(&group).unwrap();
    let [b_type, z] = [ids[0], ids[1]].map(|id| graph.mark_type(id));
    let mut b = graph.builder();
    let holder = SizedField { ty: b_type, offset: 8, size: 400 };
    let d = b.sized_type(root, 408, "D", &[holder]).unwrap();
    let mut tags = Vec::new();
    for (base, offset) in [(a, 0), (b_type, 0), (b_type, 100), (z, 0), (d, 8), (d, 108)] {
        for access in [a, int] {
            let (size, format) = (Some(tbaa::Size::Bytes(4)), Format::New);
            let tag = tbaa::Tag { base, access, offset, size, immutable: false, format };
            tags.push(graph.insert_tag(tag).unwrap());
        }
    }
    let oracle = Oracle::new(&graph, AliasRule::Llvm);
    // The int in `D` at 108 and the `A` in `B` at 100 alias. So do `Z`'s int at 0 and `B`'s at 100.
    assert!(oracle.may_alias(tags[11], tags[4]) && oracle.may_alias(tags[7], tags[5]));
    // The int in `B` at 0 and the `A` in `B` at 100 do not alias.
    assert!(!oracle.may_alias(tags[3], tags[4]), "{}", oracle.explain(tags[3], tags[4]));
    Compared::default().every_engine("newer types", &graph, &tags);
}

/// Scalars under different roots may alias, and different scalars under one root do not.
#[test]
fn many_regular_tags_under_two_roots() {
    for count in [2, 20, 100, 3_000] {
        let (graph, tags) = two_roots(count);
        let (first, second) = tags.split_at(count);
        for rules in AliasRule::ALL {
            let oracle = Oracle::new(&graph, rules);
            for at in 0..count {
                let other = (at + 1) % count;
                let across = [(first[at], second[other]), (second[at], first[at])];
                let within = [first, second].map(|tags| (tags[at], tags[other]));
                let may = |(a, b)| oracle.may_alias(a, b);
                let answers = (across.map(may), within.map(may));
                assert_eq!(answers, ([true; 2], [false; 2]), "{rules}, {count}");
            }
        }
    }
}

#[test]
fn constant_and_foreign_tags() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let int = b.sized_type(root, 4, "int", &[]).unwrap();
    let plain = b.access_tag(int, int, 0, 4).unwrap();
    let constant = b.immutable_access_tag(int, int, 0, 4).unwrap();
    // The graph's own tag at the index of `foreign` does not alias `plain`.
    let float = b.sized_type(root, 4, "float", &[]).unwrap();
    b.immutable_access_tag(float, float, 0, 4).unwrap();
    let other = graph.clone();
    let foreign = other.tags().nth(2).unwrap();
    for rules in AliasRule::ALL {
        let oracle = Oracle::new(&graph, rules);
        assert!(oracle.is_constant(constant) && !oracle.is_constant(plain), "{rules}");
        assert!(!oracle.is_constant(None) && !oracle.is_constant(foreign), "{rules}");
        assert!(Oracle::new(&other, rules).is_constant(foreign), "{rules}");
        for (a, b) in [(plain, foreign), (foreign, plain), (foreign, foreign)] {
            let [a, b] = [a, b].map(|tag| tbaa::Access::from(tag).with_size(1));
            assert!(oracle.may_alias(a, b) && !oracle.is_well_formed(foreign), "{rules}");
            assert!(oracle.most_generic(plain, foreign).is_none(), "{rules}");
        }
    }
}

/// A type with very many members: for each tag, only members near its bytes are listed.
#[test]
fn a_union_of_very_many_members() {
    const PAIRS: u64 = 2_000;
    let (mut u, root, [int, float]) = Universe::of_scalars(true, 4, ["int", "float"]);
    let member = |at| {
        let name = format!("pair{at}");
        (u.aggregate(&name, root, 8, &[(int, 0, 4), (float, 4, 4)]), 8 * at, 8)
    };
    let members: Vec<_> = (0..PAIRS).map(member).collect();
    let big = u.aggregate("big", root, 8 * PAIRS, &members);
    let union = u.aggregate("U", root, 8 * PAIRS, &[(big, 0, 8 * PAIRS), (float, 0, 8 * PAIRS)]);
    let (mut in_union, mut of_pairs) = (Vec::new(), Vec::new());
    for number in [0, 1, 2, 700, 701, PAIRS - 1] {
        let pair = members[number as usize].0;
        in_union.push(u.tag(union, int, 8 * number, 4));
        of_pairs.extend([u.tag(pair, int, 0, 4), u.tag(pair, float, 4, 4)]);
    }
    let (graph, tags) = u.graph();
    for rules in UNION_RULES {
        let oracle = Oracle::new(&graph, rules);
        for (i, &a) in in_union.iter().enumerate() {
            for (j, &b) in of_pairs.iter().enumerate() {
                let (a, b) = (tags[a], tags[b]);
                let answers = [oracle.may_alias(a, b), oracle.may_alias(b, a)];
                // Only the int of the same pair aliases.
                assert_eq!(answers, [j == 2 * i; 2], "{rules}: {i}, {j}");
            }
        }
    }
}

/// [`UNION_RULES`] reject tags of a size-aware struct with a root or old-format type as a member.
#[test]
fn a_struct_with_a_member_of_the_other_format() {
    for (member, sound) in [("!2", true), ("!1", false), ("!0", false)] {
        let text = format!(
            "!0 = !{{!\"R\"}} !1 = !{{!\"old\", !0, i64 0}} !2 = !{{!0, i64 4, !\"int\"}}
             !3 = !{{!0, i64 4, !\"float\"}} !4 = !{{!0, i64 4, !\"long\"}}
             !5 = !{{!0, i64 8, !\"S\", {member}, i64 0, i64 4, !3, i64 4, i64 4}}
             !6 = !{{!5, !3, i64 4, i64 4}} !7 = !{{!4, !4, i64 0, i64 4}} !8 = !{{!1, !1, i64 0}}
             !tbaa.tags = !{{!6, !7, !8}}"
        );
        let graph = tbaa_ir::read(text.as_bytes()).unwrap().into_graph();
        let [field, long, old] = graph.tags().collect::<Vec<_>>()[..] else { panic!("three tags") };
        for rules in UNION_RULES {
            let oracle = Oracle::new(&graph, rules);
            assert_eq!(oracle.is_well_formed(field), sound, "{rules}, {member}");
            assert_eq!(oracle.may_alias(field, long), !sound, "{rules}, {member}");
            assert!(oracle.is_well_formed(long) && oracle.is_well_formed(old));
            assert!(oracle.may_alias(long, old), "types of two formats are not compared");
        }
    }
}

/// The tables stop following a tag's path at a known type and offset; the verifier does not.
#[test]
fn tags_are_accepted_as_the_verifier_accepts_them() {
    let (mut accepted, mut rejected) = (0, 0);
    for seed in 0..setting("TBAA_GRAPHS", 3) * 100 {
        let text = random::wild(&mut Rng(seed as u64), 60, 120, true);
        let graph = tbaa_ir::read(text.as_bytes()).unwrap().into_graph();
        let mut verifier = Verifier::new(&graph);
        let verdicts: Vec<_> = graph.tags().map(|tag| (tag, verifier.check(tag).is_ok())).collect();
        let oracle = Oracle::new(&graph, AliasRule::Llvm);
        let Some(&(known, _)) = verdicts.iter().find(|verdict| verdict.1) else { continue };
        for &(tag, ok) in &verdicts {
            // Both the tables and the definition agree with the verifier.
            assert_eq!(oracle.is_well_formed(tag), ok, "seed {seed}: {:?}", graph.tag(tag));
            if tag != known {
                let clause = oracle.explain(tag, known).clause;
                assert_eq!(clause != Clause::Malformed, ok, "seed {seed}: {:?}", graph.tag(tag));
            }
            *(if ok { &mut accepted } else { &mut rejected }) += 1;
        }
    }
    println!("{accepted} tags accepted, {rejected} rejected");
    assert!(accepted > rejected / 20 && rejected > 0);
}

/// A deep chain of types with a tag each. In quadratic time, this would take minutes.
#[test]
fn a_tag_for_each_type_of_a_deep_chain() {
    const DEPTH: usize = 30_000;
    for (sized, scalars) in [(false, true), (false, false), (true, false)] {
        let (mut u, root, [int]) = Universe::of_scalars(sized, 4, ["int"]);
        let mut ty = int;
        for number in 0..=DEPTH {
            u.tag(ty, if scalars { ty } else { int }, 0, 4);
            let name = format!("t{number}");
            let fields = &[(ty, 0, 4), (int, 4, 4)][..if sized { 1 } else { 2 }];
            ty = match scalars {
                true => u.scalar(&name, ty, 4),
                false => u.aggregate(&name, root, 4, fields),
            };
        }
        let (graph, tags) = u.graph();
        let oracle = Oracle::new(&graph, AliasRule::Llvm);
        assert_eq!(oracle.alias(tags[0], tags[1]), AliasResult::MayAlias);
    }
}

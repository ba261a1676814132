//! Graphs on which the tables once failed, or that no random graph would be.

use super::{RULES, check, copy_node};
use pretty_assertions::assert_eq;
use tbaa::{
    AliasResult, Builder, Draft, DraftOperand, Format, Graph, Operand, Oracle, Rules, SizedField,
    TagId, TypeId,
};
use tbaa_tests::random::{self, Shape, Universe};
use tbaa_tests::{Rng, setting};

/// A chain of structs each of which is copied whole holds more types in types
/// than the tables keep: then the definition is asked.
#[test]
fn beyond_the_tables_the_definition_answers() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let char = b.sized_type(root, 1, "char", &[]).unwrap();
    let int = b.sized_type(char, 4, "int", &[]).unwrap();
    let mut types = vec![int];
    for i in 0..600 {
        let inner = types[types.len() - 1];
        let size = 4 * (i + 1);
        let fields = [
            tbaa::SizedField { ty: inner, offset: 0, size },
            tbaa::SizedField { ty: int, offset: size, size: 4 },
        ];
        types.push(b.sized_type(char, size + 4, format!("S{i}"), &fields).unwrap());
    }
    let mut tags = Vec::new();
    for (i, &ty) in types.iter().enumerate() {
        let size = 4 * (i as u64 + 1);
        tags.push(b.access_tag(ty, ty, 0, size, false).unwrap());
        tags.push(b.access_tag(ty, int, size - 4, 4, false).unwrap());
    }
    for rules in RULES {
        let oracle = Oracle::new(&graph, rules);
        let mut rng = Rng(3);
        for _ in 0..400 {
            let (i, j) = (rng.below(tags.len()), rng.below(tags.len()));
            // Feature `self-check` compares with the definition; so does the clause.
            let answer = oracle.alias(tags[i], tags[j]);
            assert_eq!(answer, oracle.explain(tags[i], tags[j]).answer, "{rules}: {i} and {j}");
        }
    }
}

/// Asserts that all pairs have one answer, at once or alone, in a graph that
/// grows node by node and in one that is there from the start.
fn check_grown(what: &str, graph: &Graph) {
    for rules in RULES {
        let mut grown = Oracle::new(Graph::new(), rules);
        for index in 0..graph.node_count() {
            grown.update(|grown| copy_node(graph, index, grown));
        }
        let whole = Oracle::new(graph, rules);
        let (new, old): (Vec<_>, Vec<_>) = (grown.graph().tags().collect(), graph.tags().collect());
        assert_eq!(new.len(), old.len(), "{what}");
        check(&format!("{what}, {rules}, grown"), &grown, &new);
        check(&format!("{what}, {rules}"), &whole, &old);
        for (i, &a) in old.iter().enumerate() {
            let answers = |oracle: &Oracle<&Graph>| oracle.row(a, &old);
            assert_eq!(grown.row(new[i], &new), answers(&whole), "{what}, {rules}, tag {i}");
        }
    }
}

/// Structs in structs, deeper than tables look when a tag is added: some are
/// accessed whole before or after accesses to what is inside them. Feature
/// `self-check` compares with the definition.
#[test]
fn whole_accesses_in_a_deep_chain() {
    const DEPTH: usize = 90;
    for (whole_first, every) in [(true, 5), (false, 5), (true, 30)] {
        let mut graph = Graph::new();
        let mut b = graph.builder();
        let root = b.root("R").unwrap();
        let int = b.sized_type(root, 4, "int", &[]).unwrap();
        let float = b.sized_type(root, 4, "float", &[]).unwrap();
        let field = |ty, offset, size| tbaa::SizedField { ty, offset, size };
        let pair = [field(int, 0, 4), field(float, 4, 4)];
        let mut types = vec![(b.sized_type(root, 8, "S0", &pair).unwrap(), 8)];
        for i in 1..DEPTH {
            let (inner, size) = types[i - 1];
            let fields = [field(int, 0, 4), field(inner, 4, size)];
            let outer = b.sized_type(root, size + 4, format!("S{i}"), &fields).unwrap();
            types.push((outer, size + 4));
        }
        let whole = |b: &mut tbaa::Builder<'_>| -> Vec<TagId> {
            let some = types.iter().step_by(every);
            some.map(|&(ty, size)| b.access_tag(ty, ty, 0, size, false).unwrap()).collect()
        };
        let inside = |b: &mut tbaa::Builder<'_>| -> Vec<TagId> {
            let some = types[DEPTH - 8..].iter().rev();
            some.map(|&(ty, size)| b.access_tag(ty, float, size - 4, 4, false).unwrap()).collect()
        };
        let (whole, inside) = if whole_first {
            let whole = whole(&mut b);
            (whole, inside(&mut b))
        } else {
            let inside = inside(&mut b);
            (whole(&mut b), inside)
        };
        // More types around those, accessed whole before and after walks come
        // to them.
        let (mut whole, mut inside) = (whole, inside);
        let (mut inner, mut size) = types[DEPTH - 1];
        for i in 0..6 {
            let fields = [field(int, 0, 4), field(inner, 4, size)];
            let outer = b.sized_type(root, size + 4, format!("T{i}"), &fields).unwrap();
            if i % 3 == 0 {
                whole.push(b.access_tag(outer, outer, 0, size + 4, false).unwrap());
            }
            inside.push(b.access_tag(outer, float, size, 4, false).unwrap());
            if i == 2 {
                whole.push(b.access_tag(inner, inner, 0, size, false).unwrap());
                for offset in 0..60 {
                    b.access_tag(types[DEPTH - 1].0, int, 4 * offset, 4, false).unwrap();
                }
            }
            (inner, size) = (outer, size + 4);
        }
        for rules in RULES {
            let mut grown = Oracle::new(Graph::new(), rules);
            for index in 0..graph.node_count() {
                grown.update(|grown| copy_node(&graph, index, grown));
            }
            let new: Vec<_> = grown.graph().tags().collect();
            let oracle = Oracle::new(&graph, rules);
            for &a in &inside {
                let matrix = oracle.matrix(&[&[a], &whole[..]].concat());
                for (i, &b) in whole.iter().enumerate() {
                    let may = oracle.may_alias(a, b);
                    assert_eq!(matrix.may_alias(0, i + 1), may, "{rules}");
                    assert_eq!(grown.may_alias(new[a.index()], new[b.index()]), may, "{rules}");
                }
            }
        }
    }
}

/// Offsets that differ in bits that 32 do not hold.
#[test]
fn offsets_beyond_32_bits() {
    let far = 1_u64 << 32;
    let offsets =
        [0, 4, far - 2, far - 1, far, far + 1, 2 * far - 1, 2 * far, 2 * far + 4, 1 << 40];
    for format in [Format::Old, Format::New] {
        let mut graph = Graph::new();
        let mut b = graph.builder();
        let root = b.root("R").unwrap();
        let scalar = |b: &mut tbaa::Builder<'_>, name: &str| match format {
            Format::Old => b.scalar_type(name, root).unwrap(),
            Format::New => b.sized_type(root, 1, name, &[]).unwrap(),
        };
        let (int, float) = (scalar(&mut b, "int"), scalar(&mut b, "float"));
        let strukt = |b: &mut tbaa::Builder<'_>, name: &str, fields: &[(TypeId, u64, u64)]| {
            let (_, start, size) = fields[fields.len() - 1];
            let sized = |&(ty, offset, size)| tbaa::SizedField { ty, offset, size };
            let sized: Vec<_> = fields.iter().map(sized).collect();
            let old: Vec<_> = fields.iter().map(|&(ty, offset, _)| (ty, offset)).collect();
            match format {
                Format::Old => b.struct_type(name, &old).unwrap(),
                Format::New => b.sized_type(root, start + size, name, &sized).unwrap(),
            }
        };
        let fields: Vec<_> = offsets.iter().map(|&offset| (int, offset, 1)).collect();
        let inner = strukt(&mut b, "S", &fields);
        let union = strukt(&mut b, "U", &[(float, 0, 1), (inner, 0, (1 << 40) + 1)]);
        let outer = strukt(&mut b, "T", &[(int, 0, 1), (union, far, (1 << 40) + 1)]);
        let mut first = 0;
        for (base, start) in [(inner, 0), (union, 0), (outer, far)] {
            for offset in offsets {
                match format {
                    Format::Old => b.struct_tag(base, int, start + offset, false).unwrap(),
                    Format::New => b.access_tag(base, int, start + offset, 1, false).unwrap(),
                };
            }
            if base == inner {
                first = offsets.len();
            }
        }
        check_grown(&format!("{format:?}"), &graph);
        let tags: Vec<_> = graph.tags().collect();
        for rules in RULES {
            let oracle = Oracle::new(&graph, rules);
            for (i, &a) in tags[..first].iter().enumerate() {
                let row: Vec<_> = (0..first).map(|j| i == j).collect();
                assert_eq!(oracle.row(a, &tags[..first]), row, "{format:?}, {rules}: {i}");
            }
        }
    }
}

/// A struct of too many objects to list, accessed whole, and through a type that
/// holds it.
#[test]
fn a_crowded_struct_lies_inside_others() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let char = b.sized_type(root, 1, "char", &[]).unwrap();
    let int = b.sized_type(char, 4, "int", &[]).unwrap();
    let float = b.sized_type(char, 4, "float", &[]).unwrap();
    let at = |ty, offset, size| SizedField { ty, offset, size };
    let fields: Vec<_> = (0..9_000).map(|i| at(int, 4 * i, 4)).collect();
    let inner = b.sized_type(char, 36_000, "S", &fields).unwrap();
    let fields = [at(float, 0, 4), at(inner, 4, 36_000)];
    let outer = b.sized_type(char, 36_004, "T", &fields).unwrap();
    let whole = b.access_tag(inner, inner, 0, 36_000, false).unwrap();
    let through = b.access_tag(outer, int, 404, 4, false).unwrap();
    let beside = b.access_tag(outer, float, 0, 4, false).unwrap();
    for rules in [Rules::Llvm, Rules::Union, Rules::UnionStrict] {
        let oracle = Oracle::new(&graph, rules);
        assert_eq!(oracle.alias(whole, through), AliasResult::MayAlias, "{rules}");
        assert_eq!(oracle.alias(whole, beside), AliasResult::NoAlias, "{rules}");
    }
}

/// What a change added before it panicked is not lost.
#[test]
fn a_change_that_panics_is_taken_note_of() {
    for rules in [Rules::Llvm, Rules::Union, Rules::UnionStrict] {
        let mut oracle = Oracle::new(Graph::new(), rules);
        let mut tags = Vec::new();
        let change = std::panic::AssertUnwindSafe(|| {
            oracle.update(|graph| {
                let mut b = graph.builder();
                let root = b.root("R").unwrap();
                for name in ["int", "float"] {
                    let ty = b.scalar_type(name, root).unwrap();
                    tags.push(b.struct_tag(ty, ty, 0, false).unwrap());
                }
                panic!("on purpose");
            });
        });
        assert!(std::panic::catch_unwind(change).is_err());
        assert_eq!(oracle.alias(tags[0], tags[1]), AliasResult::NoAlias, "{rules}");
    }
}

/// Tags that may alias all others, among those that do not.
#[test]
fn many_pairs_with_malformed_and_foreign_tags() {
    let mut other = Graph::new();
    let node = other.insert(&[Operand::String(b"R")]).unwrap();
    let foreign = other.mark_tag(node);
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let int = b.scalar_type("int", root).unwrap();
    let float = b.scalar_type("float", root).unwrap();
    let union = b.struct_type("U", &[(int, 0), (float, 0)]).unwrap();
    let int = b.struct_tag(int, int, 0, false).unwrap();
    let wide = b.struct_tag(union, float, 0, false).unwrap();
    let float = b.struct_tag(float, float, 0, false).unwrap();
    let node = graph.insert(&[Operand::String(b"no tag")]).unwrap();
    let tags = [int, foreign, float, graph.mark_tag(node), wide, foreign];
    for rules in [Rules::Llvm, Rules::Union, Rules::UnionStrict] {
        let oracle = Oracle::new(&graph, rules);
        let (matrix, classes) = (oracle.matrix(&tags), oracle.classes(&tags));
        let rows = tags.map(|tag| oracle.row(tag, &tags));
        assert_eq!(rows[1], [true; 6], "{rules}");
        assert!(!rows[0][2], "{rules}");
        for (i, row) in rows.iter().enumerate() {
            for (j, &may) in row.iter().enumerate() {
                assert_eq!(matrix.may_alias(i, j), may, "{rules}");
                let alike = classes.as_slice()[i] == classes.as_slice()[j];
                assert_eq!(alike, rows[i] == rows[j], "{rules}: {i}, {j}");
            }
        }
    }
}

/// A root is the same in both formats; tags of one format are added before, between and
/// after those of the other.
#[test]
fn both_formats_under_one_root() {
    let mut pairs = 0;
    for seed in 0..setting("TBAA_GRAPHS", 3) {
        let mut rng = Rng(seed as u64);
        let parts = [Format::Old, Format::New, Format::Old].map(|format| {
            let shape = *rng.pick(&[Shape::Any, Shape::Parented]);
            random::graph(&mut rng, &Universe { format, structs: 6, tags: 25, shape })
        });
        let mut oracles = RULES.map(|rules| Oracle::new(Graph::new(), rules));
        for part in &parts {
            for oracle in &mut oracles {
                oracle.update(|graph| add(part, graph));
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

/// Adds a graph's nodes and tags to another, where equal nodes are one.
fn add(from: &Graph, to: &mut Graph) {
    let mut there = Vec::new();
    for node in from.nodes() {
        let itself = from.operands(node).any(|operand| operand.node() == Some(node));
        let new = if itself {
            let operands = from.operands(node).map(|_| DraftOperand::Member(0)).collect();
            to.insert_group(&[Draft { distinct: true, operands }]).unwrap()[0]
        } else {
            let operands: Vec<_> = from
                .operands(node)
                .map(|operand| {
                    operand.node().map_or(operand, |id| Operand::Node(there[id.index()]))
                })
                .collect();
            to.insert(&operands).unwrap()
        };
        there.push(new);
        if from.tag_of(node).is_some() {
            to.mark_tag(new);
        }
    }
}

/// On some walks a type is newer than the one before it: a cycle by members that are
/// not on the walk is added at once.
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
    let aggregate = |of, fields: [[DraftOperand<'static>; 3]; 2]| Draft {
        distinct: false,
        operands: [&[node(root), number(400), name(of)][..], &fields.concat()].concat(),
    };
    let group = [
        aggregate(
            "B",
            [[node(a), number(0), number(4)], [DraftOperand::Member(1), number(100), number(300)]],
        ),
        aggregate(
            "Z",
            [[node(a), number(0), number(4)], [DraftOperand::Member(0), number(200), number(100)]],
        ),
    ];
    let ids = graph.insert_group(&group).unwrap();
    let [b_type, z] = [ids[0], ids[1]].map(|id| graph.mark_type(id));
    let mut b = graph.builder();
    let holder = |ty| SizedField { ty, offset: 8, size: 400 };
    let d = b.sized_type(root, 408, "D", &[holder(b_type)]).unwrap();
    let mut tags = Vec::new();
    for (base, offset) in [(a, 0), (b_type, 0), (b_type, 100), (z, 0), (d, 8), (d, 108)] {
        for access in [a, int] {
            let said = tbaa::Tag {
                base,
                access,
                offset,
                size: Some(4),
                immutable: false,
                format: Format::New,
            };
            tags.push(graph.insert_tag(said).unwrap());
        }
    }
    let oracle = Oracle::new(&graph, Rules::Llvm);
    // D.b.z.a.int and the A in B's Z; the int in Z alone, and in B's Z.
    assert!(oracle.may_alias(tags[11], tags[4]) && oracle.may_alias(tags[7], tags[5]));
    // The A at the start of B, and in its Z.
    assert!(!oracle.may_alias(tags[3], tags[4]), "{}", oracle.explain(tags[3], tags[4]));
    for rules in RULES {
        check(&format!("newer types, {rules}"), &Oracle::new(&graph, rules), &tags);
    }
}

/// A scalar of four bytes.
fn scalar(b: &mut Builder<'_>, format: Format, name: &str, parent: TypeId) -> TypeId {
    match format {
        Format::Old => b.scalar_type(name, parent).unwrap(),
        Format::New => b.sized_type(parent, 4, name, &[]).unwrap(),
    }
}

/// The most generic tag of two that are apart accesses all of a type; in the
/// size-aware format as many bytes as there may be.
#[test]
fn whole_generic_tags() {
    for format in [Format::Old, Format::New] {
        let mut graph = Graph::new();
        let mut b = graph.builder();
        let root = b.root("R").unwrap();
        let mut scalar = |name, parent| scalar(&mut b, format, name, parent);
        let char = scalar("char", root);
        let [int, float] = ["int", "float"].map(|name| scalar(name, char));
        let [int, float] = [int, float].map(|ty| match format {
            Format::Old => b.struct_tag(ty, ty, 0, true).unwrap(),
            Format::New => b.access_tag(ty, ty, 0, 4, true).unwrap(),
        });
        for (rules, unknown) in RULES.into_iter().zip([u64::MAX, u64::MAX - 1, u64::MAX - 1]) {
            let found = Oracle::new(&graph, rules).most_generic(int, float).unwrap();
            let size = (format == Format::New).then_some(unknown);
            assert_eq!((found.base, found.access, found.offset), (char, char, 0), "{rules}");
            assert_eq!((found.size, found.immutable, found.format), (size, true, format));
        }
    }
}

/// Under two roots intervals decide nothing between them, however many tags there are
/// and whether all are regular.
#[test]
fn many_regular_tags_under_two_roots() {
    for count in [2, 20, 100, 3_000] {
        let mut graph = Graph::new();
        let mut b = graph.builder();
        let mut under = |root| -> Vec<TagId> {
            let root = b.root(root).unwrap();
            let mut tag = |number| {
                let ty = b.scalar_type(format!("t{number}"), root).unwrap();
                b.struct_tag(ty, ty, 0, false).unwrap()
            };
            (0..count).map(&mut tag).collect()
        };
        let (first, second) = (under("one"), under("two"));
        for rules in RULES {
            let oracle = Oracle::new(&graph, rules);
            for at in 0..count {
                let other = (at + 1) % count;
                assert!(oracle.may_alias(first[at], second[other]), "{rules}, {count}");
                assert!(oracle.may_alias(second[at], first[at]), "{rules}, {count}");
                for tags in [&first, &second] {
                    assert!(!oracle.may_alias(tags[at], tags[other]), "{rules}, {count}");
                }
            }
        }
    }
}

/// What is said of a tag alone, and of a tag of another graph.
#[test]
fn constant_and_foreign_tags() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let int = b.sized_type(root, 4, "int", &[]).unwrap();
    let plain = b.access_tag(int, int, 0, 4, false).unwrap();
    let constant = b.access_tag(int, int, 0, 4, true).unwrap();
    // The graph's own third tag is apart from the first.
    let float = b.sized_type(root, 4, "float", &[]).unwrap();
    b.access_tag(float, float, 0, 4, true).unwrap();
    let other = graph.clone();
    let foreign = other.tags().nth(2).unwrap();
    for rules in RULES {
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

/// A type of so many members that of each tag only those beside its bytes are listed.
/// With feature `self-check` each answer is compared with the definition's.
#[test]
fn a_union_of_very_many_members() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let int = b.sized_type(root, 4, "int", &[]).unwrap();
    let float = b.sized_type(root, 4, "float", &[]).unwrap();
    let at = |ty, offset, size| SizedField { ty, offset, size };
    const PAIRS: u64 = 2_000;
    let pairs: Vec<TypeId> = (0..PAIRS)
        .map(|number| {
            let members = [at(int, 0, 4), at(float, 4, 4)];
            b.sized_type(root, 8, format!("pair{number}"), &members).unwrap()
        })
        .collect();
    let members: Vec<SizedField> =
        pairs.iter().enumerate().map(|(number, &pair)| at(pair, 8 * number as u64, 8)).collect();
    let big = b.sized_type(root, 8 * PAIRS, "big", &members).unwrap();
    let members = [at(big, 0, 8 * PAIRS), at(float, 0, 8 * PAIRS)];
    let u = b.sized_type(root, 8 * PAIRS, "U", &members).unwrap();
    let picked = [0, 1, 2, 700, 701, PAIRS - 1];
    let mut in_u = Vec::new();
    let mut of_pairs = Vec::new();
    for number in picked {
        let pair = pairs[number as usize];
        in_u.push(b.access_tag(u, int, 8 * number, 4, false).unwrap());
        of_pairs.push(b.access_tag(pair, int, 0, 4, false).unwrap());
        of_pairs.push(b.access_tag(pair, float, 4, 4, false).unwrap());
    }
    for rules in [Rules::Union, Rules::UnionStrict] {
        let oracle = Oracle::new(&graph, rules);
        for (i, &a) in in_u.iter().enumerate() {
            for (j, &b) in of_pairs.iter().enumerate() {
                let may = oracle.may_alias(a, b);
                assert_eq!(oracle.may_alias(b, a), may, "{rules}");
                // The int of the same pair.
                assert_eq!(may, j == 2 * i, "{rules}: {i}, {j}");
            }
        }
    }
}

/// The union rules take no path through types of both formats, or to a root.
#[test]
fn a_struct_with_a_member_of_the_other_format() {
    for (member, sound) in [("!2", true), ("!1", false), ("!0", false)] {
        let text = format!(
            "!0 = !{{!\"R\"}} !1 = !{{!\"old\", !0, i64 0}} !2 = !{{!0, i64 4, !\"int\"}}
             !3 = !{{!0, i64 4, !\"float\"}} !4 = !{{!0, i64 4, !\"long\"}}
             !5 = !{{!0, i64 8, !\"S\", {member}, i64 0, i64 4, !3, i64 4, i64 4}}
             !6 = !{{!5, !3, i64 4, i64 4}} !7 = !{{!4, !4, i64 0, i64 4}} !tbaa.tags = !{{!6, !7}}"
        );
        let graph = tbaa_ir::read(text.as_bytes()).unwrap().into_graph();
        let [field, long] = graph.tags().collect::<Vec<_>>()[..] else { panic!("two tags") };
        for rules in [Rules::Union, Rules::UnionStrict] {
            let oracle = Oracle::new(&graph, rules);
            assert_eq!(oracle.is_well_formed(field), sound, "{rules}, {member}");
            assert_eq!(oracle.may_alias(field, long), !sound, "{rules}, {member}");
            assert!(oracle.is_well_formed(long));
        }
    }
}

/// The generic tag of two members covers whatever else their structs hold, by the union
/// rules: here types under `char`, and one beside it.
#[test]
fn generic_tags_of_members() {
    for (format, odd) in
        [(Format::Old, false), (Format::Old, true), (Format::New, false), (Format::New, true)]
    {
        let mut graph = Graph::new();
        let mut b = graph.builder();
        let root = b.root("R").unwrap();
        let mut scalar = |name, parent| scalar(&mut b, format, name, parent);
        let char = scalar("char", root);
        let [int, float, long] = ["int", "float", "long"].map(|name| scalar(name, char));
        let other = scalar("odd", root);
        let members = [int, float, long, if odd { other } else { int }];
        let at = |number: usize| 4 * number as u64;
        let s = match format {
            Format::Old => {
                let members: Vec<_> =
                    members.into_iter().enumerate().map(|(number, ty)| (ty, at(number))).collect();
                b.struct_type("S", &members).unwrap()
            }
            Format::New => {
                let member = |(number, ty)| SizedField { ty, offset: at(number), size: 4 };
                let members: Vec<_> = members.into_iter().enumerate().map(member).collect();
                b.sized_type(char, 16, "S", &members).unwrap()
            }
        };
        let mut tag = |access, offset| match format {
            Format::Old => b.struct_tag(s, access, offset, false).unwrap(),
            Format::New => b.access_tag(s, access, offset, 4, false).unwrap(),
        };
        let (x, y, again) = (tag(int, 0), tag(float, 4), tag(int, 0));
        for rules in [Rules::Union, Rules::UnionStrict] {
            let oracle = Oracle::new(&graph, rules);
            let generic = oracle.most_generic(x, y).map(|tag| (tag.base, tag.access));
            // Nothing but the root is above all of S, and a root is no type of memory.
            assert_eq!(generic, (!odd).then_some((char, char)), "{rules}, {format:?}");
            let same = oracle.most_generic(x, again).unwrap();
            assert_eq!((same.base, same.access, same.offset), (s, int, 0), "{rules}");
        }
    }
}

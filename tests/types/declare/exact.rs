//! Rule `union` on policy `rfc` against the naive definition.

use std::collections::HashMap;

use tbaa::declare::{Declarations, Policy, TaggedTypes, Target};
use tbaa::{Clause, Graph, Oracle, Rules, TagId, TypeId, TypeKind};

use super::generate::{Program, Taste};
use tbaa_tests::Rng;
use tbaa_tests::naive::Naive;
use tbaa_tests::setting;
use tbaa_tests::universe::{Field, Tag, Type, Universe};

/// The graph as plain data, made with no help of the engine's.
fn universe(graph: &Graph, tags: &[TagId]) -> Universe {
    let mut u = Universe::new(true);
    let mut numbers: HashMap<TypeId, usize> = HashMap::new();
    for id in graph.types() {
        let node = graph.ty(id);
        let root = node.kind() == TypeKind::Root;
        let field = |field: tbaa::Field| Field {
            ty: numbers[&field.ty],
            offset: field.offset,
            extent: field.extent.unwrap(),
        };
        let ty = Type {
            name: String::from_utf8_lossy(node.name().unwrap()).into_owned(),
            parent: node.parent().filter(|_| !root).map(|parent| numbers[&parent]),
            size: node.size().unwrap_or(0),
            fields: node.fields().map(field).collect(),
            root,
            brief: false,
        };
        numbers.insert(id, u.types.len());
        u.types.push(ty);
    }
    for &tag in tags {
        let tag = graph.tag(tag).unwrap();
        u.tags.push(Tag {
            base: numbers[&tag.base],
            access: numbers[&tag.access],
            offset: tag.offset,
            size: tag.size.unwrap(),
        });
    }
    u
}

/// How many paths the definition lists for a type.
fn paths(u: &Universe, ty: usize) -> u64 {
    let below = |field: &Field| {
        let size = u.types[field.ty].size;
        let elements = match field.extent {
            _ if size == 0 => 1,
            0 => 40,
            extent => extent.div_ceil(size).max(1),
        };
        elements.saturating_mul(paths(u, field.ty))
    };
    u.types[ty].fields.iter().map(below).fold(1, u64::saturating_add)
}

#[test]
fn rule_union_on_policy_rfc_is_exact() {
    let (mut pairs, mut no, mut strict_no) = (0, 0, 0);
    let wanted = setting("TBAA_PAIRS", 60_000);
    let mut seed = setting("TBAA_SEED", 1) as u64;
    while pairs < wanted {
        let taste = Taste { int128: true, odd: true, elements: 3, members: 4 };
        let program = Program::new(seed, 6, taste);
        let types = program.declare(Target::x86_64()).unwrap();
        let mut graph = Graph::new();
        let mut types: TaggedTypes = types.lower(Policy::Rfc);
        let mut tags: Vec<TagId> = Vec::new();
        for access in program.accesses(&mut Rng(seed)) {
            tags.push(types.tag(&mut graph, &access.path).unwrap());
        }
        for bare in ["*int", "*char", "*float", "*void *", "*<4 x float>", "*double _Complex"] {
            tags.push(types.tag(&mut graph, bare).unwrap());
        }
        let all = universe(&graph, &[]);
        tags.retain(|&tag| {
            let base = graph.tag(tag).unwrap().base;
            let number = graph.types().position(|id| id == base).unwrap();
            paths(&all, number) <= 400
        });
        let u = universe(&graph, &tags);
        let small = restricted(&u);
        let naive = Naive::new(&small);
        let union = Oracle::new(&graph, Rules::Union);
        let strict = Oracle::new(&graph, Rules::UnionStrict);
        for (i, &a) in tags.iter().enumerate() {
            for (j, &b) in tags.iter().enumerate().skip(i) {
                let expected = naive.alias(&u.tags[i], &u.tags[j]);
                let same = a == b;
                let answers = [union.may_alias(a, b), strict.may_alias(a, b)];
                assert_eq!(
                    answers,
                    [expected.union || same, expected.strict || same],
                    "seed {seed}: {} and {}\n{}{u:?}",
                    u.show_tag(&u.tags[i]),
                    u.show_tag(&u.tags[j]),
                    union.explain(a, b),
                );
                assert_ne!(union.explain(a, b).clause, Clause::Malformed, "seed {seed}");
                pairs += 1;
                no += usize::from(!answers[0]);
                strict_no += usize::from(answers[0] && !answers[1]);
            }
        }
        seed += 1;
    }
    println!("{pairs} pairs, {no} NoAlias, {strict_no} more under union-strict");
    assert!(no > pairs / 4 && strict_no > 0);
}

/// Types that are too large to list lose their fields; no tag starts at one.
fn restricted(u: &Universe) -> Universe {
    let mut small = u.clone();
    for (number, ty) in small.types.iter_mut().enumerate() {
        if paths(u, number) > 400 {
            ty.fields.clear();
        }
    }
    small
}

/// Members of one record that share a byte may alias, whatever lies between;
/// bit-fields take all of their memory location.
#[test]
fn accesses_to_one_byte_may_alias() {
    let mut shared = 0;
    for seed in 1..=20 {
        let taste = Taste { int128: true, odd: true, elements: 3, members: 5 };
        let program = Program::new(seed, 6, taste);
        let mut graph = Graph::new();
        let mut types = program.declare(Target::x86_64()).unwrap().lower(Policy::Rfc);
        let mut found = Vec::new();
        for access in program.accesses(&mut Rng(seed)) {
            let place = types.place(&mut graph, &access.path).unwrap();
            let (from, to) = match place.bits {
                Some((at, width)) => (at / 8, (at + u64::from(width)).div_ceil(8)),
                None => (place.offset, place.offset + place.size),
            };
            found.push((access.record, access.path, from, to, place.tag.unwrap()));
        }
        let oracle = Oracle::new(&graph, Rules::Union);
        for (i, a) in found.iter().enumerate() {
            for b in found[..i].iter().filter(|b| b.0 == a.0 && a.2.max(b.2) < a.3.min(b.3)) {
                assert!(oracle.may_alias(a.4, b.4), "seed {seed}: {} and {}", a.1, b.1);
                shared += 1;
            }
        }
    }
    assert!(shared > 500, "{shared}");
}

#[test]
fn bit_fields_are_memory_locations() {
    use tbaa::declare::Record;
    let mut types = Declarations::new(Target::x86_64());
    let record = Record::structure("S").bits("a", "int", 3).bits("b", "int", 9);
    let record = record.bits("", "int", 0).bits("c", "int", 4).field("d", "char");
    let id = types.define(record).unwrap();
    let mut types = types.lower(Policy::Rfc);
    let mut graph = Graph::new();
    let node = types.node(&mut graph, id).unwrap().unwrap();
    let fields: Vec<_> = graph.ty(node).fields().map(|f| (f.offset, f.extent.unwrap())).collect();
    assert_eq!(fields, [(0, 2), (4, 1), (5, 1)]);
    let mut tag = |path: &str| types.tag(&mut graph, path).unwrap();
    let [a, b, c, d] = ["S.a", "S.b", "S.c", "S.d"].map(&mut tag);
    let oracle = Oracle::new(&graph, Rules::Union);
    assert!(oracle.may_alias(a, b));
    for (x, y) in [(a, c), (b, c), (a, d), (c, d)] {
        assert!(!oracle.may_alias(x, y));
    }
}

/// A union's members share bytes under policy `rfc`, and their neighbours do
/// not: what clang's policies cannot say.
#[test]
fn policies_differ_in_unions_and_arrays() {
    use tbaa::AliasResult::{MayAlias, NoAlias};
    use tbaa::declare::Record;
    let declare = || {
        let mut types = Declarations::new(Target::x86_64());
        let union = Record::union("").field("n", "double").field("i", "long").field("b", "int");
        let record = Record::structure("S").field("tt", "short").field("value", union);
        types.define(record.field("list", "float [4]").field("next", "S *")).unwrap();
        types
    };
    let expected = [
        ("S.value.n", "S.value.i", [MayAlias, MayAlias, MayAlias]),
        ("S.value.n", "S.tt", [MayAlias, MayAlias, NoAlias]),
        ("S.value.n", "*float", [MayAlias, MayAlias, NoAlias]),
        ("S.value.n", "*long", [MayAlias, MayAlias, MayAlias]),
        ("S.list[*]", "*float", [MayAlias, MayAlias, MayAlias]),
        ("S.list[*]", "S.tt", [NoAlias, NoAlias, NoAlias]),
        ("S.next", "S.tt", [NoAlias, NoAlias, NoAlias]),
        ("S.next", "*S *", [MayAlias, MayAlias, MayAlias]),
    ];
    for (position, policy) in [Policy::Clang, Policy::ClangNew, Policy::Rfc].into_iter().enumerate()
    {
        let rules = if policy == Policy::Rfc { Rules::Union } else { Rules::Llvm };
        let mut graph = Graph::new();
        let mut types = declare().lower(policy);
        for (a, b, answers) in expected {
            let a_tag = types.tag(&mut graph, a).unwrap();
            let b_tag = types.tag(&mut graph, b).unwrap();
            let answer = Oracle::new(&graph, rules).alias(a_tag, b_tag);
            assert_eq!(answer, answers[position], "{policy:?}: {a} and {b}");
        }
    }
}

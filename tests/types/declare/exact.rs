//! Compares rule `union` on types of policy `rfc` with the naive definition.

use tbaa::AliasResult::{MayAlias, NoAlias};
use tbaa::declare::{Declarations, Policy, Record, TaggedTypes, Target};
use tbaa::{AliasRule, Graph, Oracle, TagId};

use tbaa_tests::engines::Compared;
use tbaa_tests::generate::{Program, Taste};
use tbaa_tests::{Rng, setting};

fn program(seed: u64, members: u64) -> (Program, TaggedTypes) {
    let program = Program::new(&mut Rng(seed), 6, Taste { int128: true, elements: 3, members });
    let types = program.declare(Target::x86_64(), |_| true).unwrap().into_tagged(Policy::Rfc);
    (program, types)
}

#[test]
fn rule_union_on_policy_rfc_is_exact() {
    let mut compared = Compared::default();
    let mut seed = setting("TBAA_SEED", 1) as u64;
    while compared.naive < setting("TBAA_PAIRS", 15_000) {
        let (program, mut types) = program(seed, 4);
        let mut graph = Graph::new();
        let bare = ["*int", "*char", "*float", "*void *", "*<4 x float>", "*double _Complex"];
        let accesses = program.accesses(&mut Rng(seed));
        let paths = accesses.iter().map(|access| &access.path[..]).chain(bare);
        let tags: Vec<TagId> = paths.map(|path| types.tag(&mut graph, path).unwrap()).collect();
        let oracle = Oracle::new(&graph, AliasRule::Union);
        assert!(tags.iter().all(|&tag| oracle.is_well_formed(tag)), "seed {seed}");
        compared.every_engine(&format!("seed {seed}"), &graph, &tags);
        seed += 1;
    }
    println!("{compared:?}");
    assert!(compared.no > compared.pairs / 4 && compared.naive > compared.pairs / 8);
}

/// Accesses to members of one record may alias if they share a byte.
#[test]
fn accesses_to_one_byte_may_alias() {
    let mut shared = 0;
    for seed in 1..=20 {
        let mut graph = Graph::new();
        let (program, mut types) = program(seed, 5);
        let mut found = Vec::new();
        for access in program.accesses(&mut Rng(seed)) {
            let place = types.place(&mut graph, &access.path).unwrap();
            let (from, to) = match place.bits {
                Some(bits) => (bits.first / 8, (bits.first + u64::from(bits.width)).div_ceil(8)),
                None => (place.offset, place.offset + place.size),
            };
            let record = access.path.split('.').next().unwrap().to_owned();
            found.push((record, access.path, from, to, place.tag.unwrap()));
        }
        let oracle = Oracle::new(&graph, AliasRule::Union);
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
    let mut types = Declarations::new(Target::x86_64());
    let record = Record::structure("S").bits("a", "int", 3).bits("b", "int", 9);
    let record = record.bits("", "int", 0).bits("c", "int", 4).field("d", "char");
    let id = types.define(record).unwrap();
    let mut types = types.into_tagged(Policy::Rfc);
    let mut graph = Graph::new();
    let node = types.node(&mut graph, id).unwrap().unwrap();
    let fields: Vec<_> = graph.ty(node).fields().map(|f| (f.offset, f.extent.unwrap())).collect();
    assert_eq!(fields, [(0, 2), (4, 1), (5, 1)]);
    let mut tag = |path: &str| types.tag(&mut graph, path).unwrap();
    let [a, b, c, d] = ["S.a", "S.b", "S.c", "S.d"].map(&mut tag);
    let oracle = Oracle::new(&graph, AliasRule::Union);
    assert!(oracle.may_alias(a, b));
    for (x, y) in [(a, c), (b, c), (a, d), (c, d)] {
        assert!(!oracle.may_alias(x, y));
    }
}

/// Under policy `rfc`, members of a union may alias one another, but not a field next to the union.
/// Policy `clang` cannot express this.
#[test]
fn policies_differ_in_unions_and_arrays() {
    let declare = || {
        let mut types = Declarations::new(Target::x86_64());
        let union = Record::union("").field("n", "double").field("i", "long").field("b", "int");
        let record = Record::structure("S").field("tt", "short").field("value", union);
        types.define(record.field("list", "float [4]").field("next", "S *")).unwrap();
        types
    };
    let expected = [
        ("S.value.n", "S.value.i", [MayAlias, MayAlias]),
        ("S.value.n", "S.tt", [MayAlias, NoAlias]),
        ("S.value.n", "*float", [MayAlias, NoAlias]),
        ("S.value.n", "*long", [MayAlias, MayAlias]),
        ("S.list[*]", "*float", [MayAlias, MayAlias]),
        ("S.list[*]", "S.tt", [NoAlias, NoAlias]),
        ("S.next", "S.tt", [NoAlias, NoAlias]),
        ("S.next", "*S *", [MayAlias, MayAlias]),
    ];
    for (position, policy) in [Policy::Clang, Policy::Rfc].into_iter().enumerate() {
        let rules = if policy == Policy::Rfc { AliasRule::Union } else { AliasRule::Llvm };
        let mut graph = Graph::new();
        let mut types = declare().into_tagged(policy);
        for (a, b, answers) in expected {
            let tags = types.tags(&mut graph, &[a, b]).unwrap();
            let answer = Oracle::new(&graph, rules).alias(tags[0], tags[1]);
            assert_eq!(answer, answers[position], "{policy:?}: {a} and {b}");
        }
    }
}

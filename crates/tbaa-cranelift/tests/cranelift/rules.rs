//! Tests the findings of `check`, and their texts.

use cranelift_codegen::ir::{Function, InstBuilder, types};
use tbaa::declare::{Declarations, Record, Target};
use tbaa::{AliasRule, Graph, Oracle, Session, Tag, TagId};
use tbaa_cranelift::{Finding, Regions, Rule, Tags, Why, check};

use crate::jit::{FLAGS, apply, build, meant, result, rules};

fn session() -> Session {
    let mut session = Session::with_unions(Declarations::new(Target::x86_64()));
    let value = Record::union("Value").field("i", "long").field("n", "double");
    session.define(Record::structure("TValue").field("value", value).field("tt", "short")).unwrap();
    session
}

#[test]
fn members_of_a_union_in_two_regions() {
    let mut session = session();
    let tags = session.tags(&["TValue.value.i", "TValue.value.n"]).unwrap();
    let (func, tags) = build(|emit| {
        emit.in_region(0, "integers");
        let integer = emit.load(types::I64, 0, tags[0]);
        emit.in_region(1, "numbers");
        let number = emit.load(types::F64, 0, tags[1]);
        emit.store(number, 16, tags[1]);
        integer
    });
    let found = check(session.oracle(), &func, &tags);
    let texts: Vec<String> = found.iter().map(Finding::to_string).collect();
    assert_eq!(rules(&session, &func, &tags), [Rule::Parted, Rule::PartedSafely]);
    let accesses = [
        "error: inst0 `v1 = load.i64 notrap aligned region0 v0` (long at 0 of TValue) and ",
        "inst2 `store.f64 notrap aligned region1 v2, v0+16` (double at 0 of TValue) may alias",
    ];
    assert!(texts[0].starts_with(&accesses.concat()), "{}", texts[0]);
    assert_eq!((found[0].inst.as_u32(), found[0].other.map(|other| other.as_u32())), (2, Some(0)));
    assert!(texts[0].contains("rule union: "), "{}", texts[0]);
    assert!(texts[0].contains("region0 \"integers\"") && texts[0].contains("help: give both"));
}

#[test]
fn an_access_without_a_tag_may_alias_each_region() {
    let mut session = session();
    let tag = session.tag("TValue.tt").unwrap();
    let (func, tags) = build(|emit| {
        emit.in_region(0, "vmctx");
        let untagged = emit.load(types::I64, 32, None);
        emit.in_region(1, "types");
        let kind = emit.builder.ins().ireduce(types::I16, untagged);
        emit.store(kind, 8, tag);
        untagged
    });
    assert_eq!(rules(&session, &func, &tags), [Rule::Parted]);
}

#[test]
fn wide_accesses_immutable_stores_and_readonly_loads() {
    let mut session = session();
    let places = session.tags(&["TValue.tt", "TValue.value.i"]).unwrap();
    let constant = session.update(|_, graph: &mut Graph| {
        let tag = graph.tag(places[1]).unwrap();
        graph.builder().tag(Tag { immutable: true, ..tag }).unwrap()
    });
    let wide = build(|emit| emit.load(types::I64, 8, places[0]));
    let immutable = build(|emit| {
        let five = emit.number(5);
        emit.store(five, 0, constant);
        five
    });
    let readonly = build(|emit| {
        emit.flags = FLAGS.with_readonly();
        let old = emit.load(types::I64, 0, places[1]);
        emit.flags = FLAGS;
        emit.store(old, 8, places[1]);
        old
    });
    for ((func, tags), rule) in
        [(wide, Rule::Wide), (immutable, Rule::ImmutableStore), (readonly, Rule::Readonly)]
    {
        assert_eq!(rules(&session, &func, &tags), [rule]);
    }
}

/// A vector load covers the members `value` and `tt`, but has the tag of `value.i`.
#[test]
fn a_wide_access_sees_stores_beyond_its_tag() {
    let mut session = session();
    let places = session.tags(&["TValue.tt", "TValue.value.i"]).unwrap();
    let (mut func, tags) = build(|emit| {
        let old = emit.load(types::I64X2, 0, places[1]);
        let five = emit.builder.ins().iconst(types::I16, 5);
        emit.store(five, 8, places[0]);
        let new = emit.load(types::I64X2, 0, places[1]);
        let changed = emit.builder.ins().isub(new, old);
        emit.builder.ins().extractlane(changed, 1)
    });
    apply(&session, &mut func, &tags);
    assert_eq!([meant(&func, [1; 8]).0, result(&func, [1; 8]).0], [4; 2]);
    let found = rules(&session, &func, &tags);
    assert!(found.iter().all(|rule| !rule.is_error()));
    assert_eq!(found.iter().filter(|&&rule| rule == Rule::Wide).count(), 2);
}

#[test]
fn a_missing_region_says_why() {
    let mut session = session();
    let places = session.tags(&["TValue.tt", "TValue.value.i", "*char"]).unwrap();
    let unknown = {
        let mut graph = Graph::new();
        let root = graph.builder().root("elsewhere").unwrap();
        let int = graph.builder().scalar_type("int", root).unwrap();
        graph.builder().struct_tag(int, int, 0).unwrap()
    };
    let every: [Option<TagId>; 3] = [Some(places[2]), None, Some(unknown)];
    let (mut func, tags) = build(|emit| {
        for _ in 0..4 {
            let kind = emit.load(types::I16, 8, places[0]);
            let integer = emit.load(types::I64, 0, places[1]);
            emit.store(integer, 0, places[1]);
            emit.store(kind, 8, places[0]);
        }
        for tag in every {
            emit.load(types::I8, 32, tag);
        }
        emit.number(0)
    });
    let applied = apply(&session, &mut func, &tags);
    let why: Vec<Why> = applied.without_region.iter().map(|access| access.why).collect();
    // The first load in `every` has no region, so the last store before it has none either.
    assert_eq!(why, [Why::Vague, Why::Vague, Why::NoTag, Why::UnknownTag]);
    assert_eq!((applied.regions, applied.sequence_points), (2, 1));
    assert_eq!(rules(&session, &func, &tags), [Rule::NoRegion; 4]);
    let found = check(session.oracle(), &func, &tags);
    let text = found[2].to_string();
    assert!(text.starts_with("warning: ") && text.contains("no tag was recorded"), "{text}");
}

#[test]
fn no_function_is_too_large_or_too_small() {
    let oracle = Oracle::new(Graph::new(), AliasRule::Union);
    let mut func = Function::new();
    let tags = Tags::new();
    assert_eq!(Regions::new(&oracle).apply(&oracle, &mut func, &tags).unwrap().regions, 0);
    assert!(check(&oracle, &func, &tags).is_empty());
}

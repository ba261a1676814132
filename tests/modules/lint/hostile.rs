//! Hostile texts cause no panic and no endless search, and findings have positions in the text.

use std::fmt::Write;

use tbaa::{AliasRule, Format, Graph, SizedField};
use tbaa_check::lint::{Lint, Options, lint, lint_graph};
use tbaa_check::verify::{Options as VerifyOptions, Rule, verify};
use tbaa_check::{Code, Diagnostic, FindingLimits, Findings, LeftOut};
use tbaa_ir::Keep;
use tbaa_tests::random::{self, Shape, Universe};
use tbaa_tests::{Rng, damage, fuzz, setting};

/// Returns the findings with every lint on; none if the text cannot be read.
fn everything(source: &[u8]) -> Vec<Diagnostic> {
    let module = tbaa_ir::read_with(source, Keep::All);
    module.map_or_else(|_| Vec::new(), |module| fuzz::findings(&module))
}

#[test]
fn damaged_bytes() {
    let first = setting("TBAA_SEED", 1);
    let mut found = 0;
    for seed in first..first + setting("TBAA_DAMAGED", 400) {
        let mut rng = Rng(seed as u64);
        let format = if rng.one_in(2) { Format::Old } else { Format::New };
        let universe = Universe { format, structs: 4, tags: 12, shape: Shape::Any };
        let mut source = random::module(&random::graph(&mut rng, &universe));
        // Adds code and types, which lints read too.
        source.insert_str(
            0,
            "target datalayout = \"e-p:64:64\"\n%struct.S = type { ptr, [2 x { i32, float }] }\n\
             define void @g(ptr %p) {\n  %q = getelementptr inbounds %struct.S, ptr %p, i32 0, i32 1\n  \
             store ptr %q, ptr %p, !tbaa !0\n  %r = load ptr, ptr %p, !tbaa !0\n  \
             %s = bitcast ptr %r to ptr\n  %v = load i64, ptr %s, !tbaa !0\nl:\n  ret void\n}\n",
        );
        let mut bytes = source.into_bytes();
        damage::bytes(&mut rng, &mut bytes);
        found += everything(&bytes).len();
    }
    assert!(found > 0);
}

#[test]
fn large_texts() {
    const COUNT: usize = 10_000;
    // A type with faults in very many fields.
    let fields = ", !\"x\", i64 0".repeat(COUNT);
    let store = "define void @f(ptr %p) {\n  store i32 1, ptr %p, !tbaa !0\n  ret void\n}\n";
    let types = "!1 = !{!\"int\", !2, i64 0}\n!2 = !{!\"root\"}\n";
    let wide =
        format!("{store}!0 = !{{!3, !1, i64 0}}\n{types}!3 = !{{!\"S\", !1, i64 0{fields}}}\n");
    assert!(everything(wide.as_bytes()).len() < 100);

    // A `!tbaa.struct` node with a fault in each entry.
    let copy = "define void @f(ptr %p) {\n  call void @g(ptr %p), !tbaa.struct !0\n  ret void\n}\n";
    let entries = "i64 0, i64 8, null, ".repeat(COUNT);
    let wide = format!("{copy}!0 = !{{{entries}i64 0}}\n");
    assert!(everything(wide.as_bytes()).len() < 100);

    // Many nested types of one name, and a `distinct` tag of each: all accesses use one pointer.
    let mut deep = String::from("define void @f(ptr %p) {\n");
    for tag in 0..COUNT {
        let _ = writeln!(deep, "  store i32 1, ptr %p, !tbaa !{}", 2 * tag + 10);
        let _ = writeln!(deep, "  %v{tag} = load i64, ptr %p, !tbaa !{}", 2 * tag + 10);
    }
    deep += "  ret void\n}\n!1 = !{!\"int\", !2, i64 0}\n!2 = !{!\"root\"}\n!9 = !{!\"T\", !1, i64 0, !1, i64 2}\n";
    for tag in 0..COUNT {
        let (number, ty) = (2 * tag + 10, 2 * tag + 11);
        // The nesting is limited, because a check takes time proportional to the depth.
        let inner = if tag % 32 == 0 { 9 } else { ty - 2 };
        let _ = writeln!(deep, "!{number} = distinct !{{!{ty}, !1, i64 {}}}", 2 * (tag % 2));
        let _ = writeln!(deep, "!{ty} = !{{!\"T\", !{inner}, i64 0, !1, i64 {tag}}}");
    }
    assert!(!everything(deep.as_bytes()).is_empty());

    for line in
        ["\"", "(", "%\"", "%a = getelementptr ", "!tbaa !{", "%a = load ptr, ptr %", "@llvm."]
    {
        let body = format!("define void @f() {{\n  {}\n  ret void\n}}\n", line.repeat(COUNT));
        everything(body.as_bytes());
        let lines = format!("  {line}\n").repeat(COUNT);
        everything(format!("define void @f() {{\n{lines}  ret void\n}}\n").as_bytes());
    }
}

/// Returns a module with nested unions and a store to each. LLVM miscompiles most pairs of stores.
fn nested_unions(count: usize) -> String {
    let mut source = String::from("define void @f(ptr %p) {\n");
    for at in 0..count {
        let _ = writeln!(source, "  store i32 1, ptr %p, !tbaa !{}", 100_000 + at);
    }
    source += "  ret void\n}\n!0 = !{!\"R\"}\n!1 = !{!\"int\", !0, i64 0}\n!2 = !{!\"float\", !0, i64 0}\n";
    let mut inner = 1;
    for at in 0..count {
        let (ty, member) = (10 + at, 1 + at % 2);
        let _ = writeln!(source, "!{ty} = !{{!\"U{at}\", !{inner}, i64 0, !{member}, i64 0}}");
        let _ = writeln!(source, "!{} = !{{!{ty}, !{member}, i64 0}}", 100_000 + at);
        inner = ty;
    }
    source
}

#[test]
fn findings_are_limited_by_code_and_in_all() {
    let source = nested_unions(50);
    let module = tbaa_ir::read(source.as_bytes()).unwrap();
    let code = Code::Lint(Lint::UnionMiscompiled);
    let with = |by_code, in_all| {
        let limits = FindingLimits { by_code, in_all };
        lint(&module, &Options::default().limits(limits))
    };
    let count = |found: &Findings| found.iter().filter(|found| found.code == code).count();
    let all = with(usize::MAX, usize::MAX);
    assert!(count(&all) > 1000 && all.left_out().next().is_none());
    let few = with(7, usize::MAX);
    assert_eq!(count(&few), 7);
    // The search stops at the limit.
    assert!(few.left_out().eq([LeftOut { code, count: 0, at_least: true }]));
    assert_eq!(with(usize::MAX, 3).len(), 3);

    // Findings of `OffsetAtAccess` are counted beyond the limit.
    let mut bad = String::from("!0 = !{!\"R\"}\n!1 = !{!\"int\", !0, i64 0}\n!tbaa.tags = !{!2");
    (3..500).for_each(|tag| bad += &format!(", !{tag}"));
    bad += "}\n";
    (2..500).for_each(|tag| bad += &format!("!{tag} = !{{!1, !1, i64 {tag}}}\n"));
    let module = tbaa_ir::read(bad.as_bytes()).unwrap();
    let found = verify(&module, AliasRule::Llvm);
    let code = Code::Rule(Rule::OffsetAtAccess);
    assert_eq!(found.len(), 100);
    assert!(found.left_out().eq([LeftOut { code, count: 398, at_least: false }]));
    let all = VerifyOptions::from(AliasRule::Llvm).limits(FindingLimits::NONE);
    assert_eq!(verify(&module, all).len(), 498);
}

/// Returns a graph with `count` unions, a tag of each, and `numbers` tags of scalars. LLVM
/// miscompiles only one pair: the tags of the last union and of the last scalar.
fn unions_apart(count: usize, numbers: usize) -> Graph {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let mut scalar = |name| b.sized_type(root, 4, name, &[]).unwrap();
    let [int, float, long] = ["int", "float", "long"].map(&mut scalar);
    for at in 1..=count {
        let first = if at == count { int } else { long };
        let members = [first, float].map(|ty| SizedField { ty, offset: 0, size: 4 });
        let own = b.sized_type(root, 4, format!("U{at}"), &members).unwrap();
        b.access_tag(own, float, 0, 4).unwrap();
    }
    for at in 1..=numbers {
        let name = format!("N{at}");
        let ty = if at == numbers { int } else { b.sized_type(root, 4, name, &[]).unwrap() };
        b.access_tag(ty, ty, 0, 4).unwrap();
    }
    graph
}

#[test]
fn pairs_beyond_the_limit_are_not_compared_and_it_is_said() {
    let code = Code::Lint(Lint::UnionMiscompiled);
    let lint = |count, numbers, options| {
        let found = lint_graph(&unions_apart(count, numbers), &options);
        let left_out: Vec<LeftOut> = found.left_out().collect();
        (found.iter().filter(|found| found.code == code).count(), left_out)
    };
    let default = Options::default;
    assert_eq!(lint(20, 1, default()), (1, vec![]));
    // 545 unions and 209 scalars make 545 * 544 / 2 + 545 * 209 = 2^18 + 1 pairs, one too many.
    assert_eq!(lint(545, 208, default()), (1, vec![]));
    assert_eq!(lint(545, 209, default()), (0, vec![LeftOut { code, count: 0, at_least: true }]));
    assert_eq!(lint(545, 209, default().set(Lint::UnionMiscompiled, None)), (0, vec![]));
}

/// Each pair consists of a union of 8,193 operands and a scalar of three.
#[test]
fn operands_beyond_the_limit_are_not_looked_at() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let mut scalar = |at| (b.scalar_type(format!("T{at}"), root).unwrap(), 0);
    let members: Vec<_> = (0..4096).map(&mut scalar).collect();
    let union = b.struct_type("U", &members).unwrap();
    b.struct_tag(union, members[4095].0, 0).unwrap();
    for (ty, _) in members {
        b.struct_tag(ty, ty, 0).unwrap();
    }
    let found = lint_graph(&graph, &Options::default().limits(FindingLimits::NONE));
    let code = Code::Lint(Lint::UnionMiscompiled);
    assert_eq!(found.iter().filter(|found| found.code == code).count(), (1 << 24) / 8196);
    assert!(found.left_out().eq([LeftOut { code, count: 0, at_least: true }]));
}

/// Each of 1,100 pointers is read twice, after stores with 1,100 tags through another pointer.
#[test]
fn reads_beyond_the_limit_are_not_compared_with_stores() {
    const COUNT: usize = 1100;
    let mut code = String::from("define void @f(ptr %q) {\n");
    let mut nodes =
        String::from("!0 = !{!\"R\"}\n!1 = !{!2, !2, i64 0}\n!2 = !{!\"float\", !0, i64 0}\n");
    for tag in (0..COUNT).map(|at| 2 * at + 4) {
        code += &format!("  store i32 1, ptr %q, !tbaa !{tag}\n");
        nodes += &format!(
            "!{tag} = !{{!{ty}, !{ty}, i64 0}}\n!{ty} = !{{!\"T{tag}\", !0, i64 0}}\n",
            ty = tag + 1
        );
    }
    for tag in (0..COUNT).map(|at| 2 * at + 4) {
        code += &format!(
            "  %i{tag} = load i32, ptr %p{tag}, !tbaa !{tag}\n  %f{tag} = load float, ptr %p{tag}, !tbaa !1\n"
        );
    }
    let source = code + "  ret void\n}\n" + &nodes;
    let module = tbaa_ir::read(source.as_bytes()).unwrap();
    let found = lint(&module, &Options::default().limits(FindingLimits::NONE));
    let code = Code::Lint(Lint::PointerUnderTwoTags);
    let count = found.iter().filter(|found| found.code == code).count();
    assert!((1..COUNT).contains(&count), "{count}");
    assert!(found.left_out().any(|left| left == LeftOut { code, count: 0, at_least: true }));
}

/// Pairs without unions do not count towards the limit if each access has its scalar's size.
#[test]
fn any_number_of_plain_structs_is_compared() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let int = b.sized_type(root, 4, "int", &[]).unwrap();
    for at in 0..800 {
        let fields = [0, 4].map(|offset| SizedField { ty: int, offset, size: 4 });
        let own = b.sized_type(root, 8, format!("S{at}"), &fields).unwrap();
        b.access_tag(own, int, 4, 4).unwrap();
    }
    assert!(lint_graph(&graph, &Options::default()).left_out().next().is_none());
}

#[test]
fn messages_do_not_repeat_endless_names() {
    let name = "x".repeat(1 << 20);
    let source = format!(
        "define void @{name}(ptr %p) {{\n  store i32 1, ptr %p, !tbaa !0\n  ret void\n}}\n\
         !0 = !{{!1, !1, i64 4}}\n!1 = !{{!\"{name}\", !2, i64 0}}\n!2 = !{{!\"{name}\"}}\n"
    );
    for finding in everything(source.as_bytes()) {
        let labels = finding.primary.iter().chain(&finding.secondary).map(|label| label.text.len());
        let texts = finding.notes.iter().chain(&finding.help).map(String::len);
        let longest = labels.chain(texts).chain([finding.message.len()]).max();
        assert!(longest < Some(2000), "{}", finding.code);
    }
}

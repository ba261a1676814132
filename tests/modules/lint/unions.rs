//! The lint for pairs of tags that are `NoAlias` by rule `llvm` but certainly share bytes.

use tbaa::{Format, Graph, SizedField};
use tbaa_check::lint::{Lint, Options, lint, lint_graph};
use tbaa_check::{Code, Findings};
use tbaa_tests::random;

/// A member of a struct: the index of its type, its offset and its size in bytes.
type Member = (usize, u64, u64);

/// A tag: base type, access type, offset and size. Types 0 to 3 are `int`, `float`, `short` and
/// `long`, 4 is the struct, and 5 contains it and has, in the size-aware format, the parent `long`.
type Access = (usize, usize, u64, u64);

/// Returns the number of reported pairs among `accesses`. The struct has the given members.
fn told(format: Format, members: &[Member], accesses: &[Access]) -> usize {
    let mut graph = Graph::new();
    let root = graph.builder().root("R").unwrap();
    let mut types = Vec::new();
    for (name, size) in [("int", 4), ("float", 4), ("short", 2), ("long", 8)] {
        types.push(random::scalar(&mut graph, format, name, root, size).unwrap());
    }
    let member = |&(ty, offset, size): &Member| SizedField { ty: types[ty], offset, size };
    let members: Vec<_> = members.iter().map(member).collect();
    let inner = random::aggregate(&mut graph, format, "S", root, &members).unwrap();
    let size = members.iter().map(|member| member.offset + member.size).max().unwrap();
    let only = SizedField { ty: inner, offset: 0, size };
    let outer = random::aggregate(&mut graph, format, "Outer", types[3], &[only]).unwrap();
    types.extend([inner, outer]);
    for &(base, access, offset, size) in accesses {
        random::access(&mut graph, types[base], types[access], offset, size, false).unwrap();
    }
    count(&lint_graph(&graph, &Options::default()))
}

fn count(found: &Findings) -> usize {
    found.iter().filter(|found| found.code == Code::Lint(Lint::UnionMiscompiled)).count()
}

const INT: Access = (4, 0, 0, 4);
const BARE_INT: Access = (0, 0, 0, 4);

#[test]
fn bytes_that_both_tags_name() {
    // The int and the float share their bytes, and the short is in their second half.
    let members = [(0, 0, 4), (1, 0, 4), (2, 2, 2)];
    let (float, short) = ((4, 1, 0, 4), (4, 2, 2, 2));
    assert_eq!(told(Format::New, &members, &[float, short]), 1);
    // The old format has no sizes, so the end of a member is unknown.
    assert_eq!(told(Format::Old, &members, &[float, short]), 0);
    // An access under the tag of the scalar `float` may be to any float.
    assert_eq!(told(Format::New, &members, &[(1, 1, 0, 4), short]), 0);
    assert_eq!(told(Format::New, &members, &[float, (2, 2, 0, 2)]), 0);
    // Members may overlap without beginning at the same offset.
    assert_eq!(told(Format::New, &[(1, 0, 4), (2, 2, 2)], &[float, short]), 1);
}

#[test]
fn members_at_one_place() {
    let members = [(0, 0, 4), (1, 0, 4)];
    for format in [Format::Old, Format::New] {
        assert_eq!(told(format, &members, &[BARE_INT, (4, 1, 0, 4)]), 1, "{format:?}");
        assert_eq!(told(format, &members, &[(3, 3, 0, 8), (4, 1, 0, 4)]), 0, "{format:?}");
        assert_eq!(told(format, &members, &[BARE_INT, (5, 1, 0, 4)]), 1, "{format:?}");
        // LLVM answers this pair correctly.
        assert_eq!(told(format, &members, &[(4, 1, 0, 4), (5, 1, 0, 4)]), 0, "{format:?}");
    }
}

#[test]
fn an_access_that_runs_on() {
    let members = [(0, 0, 4), (1, 4, 4), (2, 8, 2)];
    let [float, short] = [(4, 1, 4, 4), (4, 2, 8, 2)];
    assert_eq!(told(Format::New, &members, &[INT, float, short]), 0);
    let both = (4, 0, 0, 8);
    assert_eq!(told(Format::New, &members, &[both, float]), 1);
    assert_eq!(told(Format::New, &members, &[float, both]), 1);
    assert_eq!(told(Format::New, &members, &[both, float, short]), 1);
    assert_eq!(told(Format::New, &members, &[(4, 0, 0, 10), float, short]), 2);
    assert_eq!(told(Format::New, &members, &[both, (4, 1, 4, 6)]), 1);
}

/// A pair is reported only if shared bytes are why rules other than `llvm` answer `MayAlias`.
#[test]
fn doubt_is_not_told() {
    // All of `Outer` may be accessed as its parent type.
    let members = [(0, 0, 4), (1, 0, 4)];
    assert_eq!(told(Format::New, &members, &[(3, 3, 0, 8), (5, 1, 0, 4)]), 0);

    // If tags have two formats, another lint reports that.
    let sized =
        "!1 = !{!0, i64 4, !\"int\"}\n!3 = !{!1, !1, i64 0, i64 4}\n!6 = !{!\"int\", !0, i64 0}\n";
    let mixed = in_text("@f", &format!("{sized}!4 = !{{!\"U\", !6, i64 0, !2, i64 0}}\n"));
    let codes: Vec<_> = mixed.iter().map(|mixed| mixed.code).collect();
    assert_eq!(codes, [Code::Lint(Lint::MixedFormats)]);
}

/// Returns the findings in functions that store with tag `!3`, and with `!5` (the `float` in `!4`).
fn in_text(functions: &str, types: &str) -> Findings {
    let function = |name| {
        format!(
            "define void {name}(ptr %p) {{\n  store i32 1, ptr %p, !tbaa !3\n  \
             store float 1.0, ptr %p, !tbaa !5\n  ret void\n}}\n"
        )
    };
    let functions: String = functions.split(' ').map(function).collect();
    let float = "!0 = !{!\"R\"}\n!2 = !{!\"float\", !0, i64 0}\n!5 = !{!4, !2, i64 0}\n";
    let source = functions + float + types;
    lint(&tbaa_ir::read(source.as_bytes()).unwrap(), &Options::default())
}

#[test]
fn a_pair_of_two_functions_is_told_once() {
    let types = "!1 = !{!\"int\", !0, i64 0}\n!3 = !{!1, !1, i64 0}\n!4 = !{!\"U\", !1, i64 0, !2, i64 0}\n";
    assert_eq!(count(&in_text("@f @g", types)), 1);
}

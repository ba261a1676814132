//! What is said of accesses one after the other.

use tbaa_check::lint::{Lint, Options, lint};
use tbaa_check::{Code, Level};
use tbaa_ir::Keep;

/// The tags `!0`, of an `int`, `!3`, of a `float`, and `!5`, of a pointer.
const TAGS: &str = r#"
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"root"}
!3 = !{!4, !4, i64 0}
!4 = !{!"float", !2, i64 0}
!5 = !{!6, !6, i64 0}
!6 = !{!"any pointer", !2, i64 0}
"#;

/// How many findings of one lint there are in a function, with only these lints on.
fn count(lint_of: Lint, on: &[Lint], body: &str) -> usize {
    let source = format!("define void @f(ptr %p, ptr %q) {{\n{body}  ret void\n}}\n{TAGS}");
    let module = tbaa_ir::read_with(source.as_bytes(), Keep::All).unwrap();
    let level = |lint: &Lint| on.contains(lint).then_some(Level::Warning);
    let options =
        Lint::ALL.iter().fold(Options::default(), |options, lint| options.set(*lint, level(lint)));
    let found = lint(&module, source.as_bytes(), &options);
    found.iter().filter(|it| it.code == Code::Lint(lint_of)).count()
}

const STORE_FLOAT: &str = "  store float 1.0, ptr %p, align 4, !tbaa !3\n";
const LOAD_FLOAT: &str = "  %w = load float, ptr %p, align 4, !tbaa !3\n";
const LOAD_INT: &str = "  %v = load i32, ptr %p, align 4, !tbaa !0\n";
const PUNS: [Lint; 2] = [Lint::ReadUnderOtherTag, Lint::PointerUnderTwoTags];

fn puns(between: &str) -> [usize; 2] {
    let stored = count(PUNS[0], &PUNS, &format!("{STORE_FLOAT}{between}{LOAD_INT}"));
    [stored, count(PUNS[1], &PUNS, &format!("{LOAD_FLOAT}{between}{LOAD_INT}"))]
}

#[test]
fn each_of_two_lints_alone() {
    for (lint, first) in PUNS.into_iter().zip([STORE_FLOAT, LOAD_FLOAT]) {
        assert_eq!(count(lint, &[lint], &format!("{first}{LOAD_INT}")), 1, "{lint:?}");
    }
}

/// What may have written the place that is read makes the reading plain, and nothing
/// else does.
#[test]
fn stores_between() {
    assert_eq!(puns(""), [1, 1]);
    // Of what neither aliases; under the tag that is read with; of what no tag tells.
    assert_eq!(puns("  store ptr %p, ptr %q, align 8, !tbaa !5\n"), [1, 1]);
    assert_eq!(puns("  store i32 1, ptr %q, align 4, !tbaa !0\n"), [0, 0]);
    assert_eq!(puns("  store i32 1, ptr %q, align 4\n"), [0, 0]);
    assert_eq!(puns("  store atomic i32 1, ptr %q monotonic, align 4, !tbaa !5\n"), [0, 0]);
    assert_eq!(puns("  store volatile i32 1, ptr %q, align 4, !tbaa !5\n"), [0, 0]);
    // A name too long to be read may be anyone's.
    let far = format!("  store i32 1, ptr @{}, align 4, !tbaa !0\n", "g".repeat(5000));
    assert_eq!(puns(&far), [0, 0]);
    // Loads write nothing, and a block's end is one.
    assert_eq!(puns("  %x = load i32, ptr %q, align 4\n"), [1, 1]);
    assert_eq!(puns("  %x = load volatile i32, ptr %q, align 4, !tbaa !5\n"), [1, 1]);
    assert_eq!(puns("  br label %next\nnext:\n"), [0, 0]);
    assert_eq!(puns("  catchret from %c to label %next\nnext: ; preds = %pad\n"), [0, 0]);
    // A store of long ago is none between.
    let before = "  store i32 1, ptr %q, align 4, !tbaa !0\n";
    assert_eq!(count(PUNS[1], &PUNS, &format!("{before}{LOAD_FLOAT}{LOAD_INT}")), 1);
}

/// Only calls that may write what is loaded make the reading plain.
#[test]
fn calls_between() {
    for (call, told) in [
        ("call void @g(ptr %p)", [0, 0]),
        ("call void @g(ptr %p) memory(none)", [1, 1]),
        ("call void @g(ptr %p) memory(read, inaccessiblemem: readwrite)", [1, 1]),
        ("call void @g(ptr %p) memory(argmem: write)", [0, 0]),
        ("call void @g(ptr @llvm.dbg.value)", [0, 0]),
        ("call void %q(ptr @llvm.dbg.value)", [0, 0]),
        ("call void %q(ptr %p) readonly", [1, 1]),
        ("call void @llvm.dbg.value(metadata ptr %p, metadata !0, metadata !0)", [1, 1]),
        ("%x = call i32 @llvm.smax.i32(i32 1, i32 2)", [1, 1]),
        ("call void @llvm.assume(i1 true) [ \"align\"(ptr %p, i64 8) ]", [1, 1]),
        ("call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 8, i1 false)", [0, 0]),
        ("call void @llvm.lifetime.start.p0(ptr %q)", [0, 0]),
        ("call void @llvm.aarch64.neon.st2.v4f32.p0(<4 x float> %x, ptr %p)", [0, 0]),
        (
            "call void (...) @llvm.experimental.patchpoint.void(i64 0, i32 15, ptr @g, i32 0)",
            [0, 0],
        ),
    ] {
        assert_eq!(puns(&format!("  {call}\n")), told, "{call}");
    }
}

/// Each pair of tags is told once.
#[test]
fn a_pair_is_told_once() {
    let twice = format!("{LOAD_FLOAT}{LOAD_INT}").repeat(2).replace("%w =", "%w0 =");
    let other = "  %x = load ptr, ptr %p, align 8, !tbaa !5\n";
    assert_eq!(count(PUNS[1], &PUNS, &twice), 2, "float then int, int then float");
    assert_eq!(count(PUNS[1], &PUNS, &format!("{twice}{other}")), 3);
}

/// Only loads and stores count, and volatile ones do not.
#[test]
fn some_have_no_tag() {
    let untagged = |body: &str| count(Lint::Untagged, &[Lint::Untagged], body);
    let bare = "  %x = load i32, ptr %q, align 4\n";
    assert_eq!(untagged(&format!("{LOAD_INT}{bare}")), 1);
    assert_eq!(untagged(LOAD_INT), 0);
    assert_eq!(untagged(bare), 0, "none has one");
    assert_eq!(untagged(&format!("{bare}{}", bare.replace("%x", "%y"))), 0);
    for other in [
        "  call void @g(ptr %q)\n",
        "  %x = load volatile i32, ptr %q, align 4\n",
        "  fence seq_cst\n",
        "  %x = atomicrmw add ptr %q, i32 1 monotonic, align 4\n",
    ] {
        assert_eq!(untagged(&format!("{LOAD_INT}{other}")), 0, "{other}");
    }
}

/// How often two reads under two tags are told, through `a` and `b`, which these
/// instructions compute.
#[track_caller]
fn reads(instructions: &[&str], a: &str, b: &str) -> usize {
    let lines: String = instructions.iter().map(|line| format!("  {line}\n")).collect();
    let (first, second) = (LOAD_FLOAT.replace("%p", a), LOAD_INT.replace("%p", b));
    count(PUNS[1], &PUNS, &format!("{lines}{first}{second}"))
}

#[test]
fn pointers_that_are_one() {
    let cast = "bitcast i8* %p to float*";
    assert_eq!(reads(&[&format!("%a = {cast}"), &format!("%b = {cast}")], "%a", "%b"), 1);
    let nought = "%a = getelementptr inbounds %S, ptr %p, i64 0, i32 0";
    assert_eq!(reads(&[nought], "%a", "%p"), 1);
    assert_eq!(reads(&[&nought.replace("i32 0", "i32 1")], "%a", "%p"), 0);
    let lines = "%a = getelementptr inbounds %S, ptr\n %p, i64\n 0, i32 0, !dbg !1";
    assert_eq!(reads(&[lines], "%a", "%p"), 1);
    // As LLVM before 3.7 writes it.
    for base in ["%p", "@g"] {
        let of = |name: &str, field: usize| {
            format!("{name} = getelementptr inbounds %S* {base}, i64 0, i32 {field}")
        };
        assert_eq!(reads(&[&of("%a", 1), &of("%b", 1)], "%a", "%b"), 1, "{base}");
        assert_eq!(reads(&[&of("%a", 1), &of("%b", 2)], "%a", "%b"), 0, "{base}");
    }
}

/// A pointer that is loaded again is the same unless what holds it may have changed.
#[test]
fn pointers_that_are_loaded() {
    let loads = |volatile: &str, between: &[&str], [a, b]: [&str; 2]| {
        let load = |name| format!("{name} = load {volatile}ptr, ptr %p, align 8, !tbaa !5");
        let (first, second) = (load(a), load(b));
        reads(&[&[&first[..]], between, &[&second[..]]].concat(), a, b)
    };
    let names = ["%a", "%b"];
    assert_eq!(loads("", &[], names), 1);
    assert_eq!(loads("", &[], ["%\"first name\"", "%\"second name\""]), 1);
    assert_eq!(loads("volatile ", &[], names), 0);
    for (between, told) in [
        ("store i32 1, ptr %q, align 4, !tbaa !0", 1),
        ("store ptr %q, ptr %q, align 8, !tbaa !5", 0),
        ("store i32 1, ptr %q, align 4", 0),
        // To the place itself, under whatever tag.
        ("store i32 1, ptr %p, align 4, !tbaa !0", 0),
        // Through what has no place.
        ("store i32 1, ptr undef, align 4, !tbaa !0", 0),
        ("%x = load i32, ptr undef, align 4, !tbaa !0", 1),
    ] {
        assert_eq!(loads("", &[between], names), told, "{between}");
    }
}

#[test]
fn pointers_that_are_stored() {
    let load = "%b = load ptr, ptr %p, align 8, !tbaa !5";
    let store = |volatile| format!("store {volatile}ptr %q, ptr %p, align 8, !tbaa !5");
    assert_eq!(reads(&[&store(""), load], "%q", "%b"), 1);
    assert_eq!(reads(&[&store("volatile "), load], "%q", "%b"), 0);
    // The name of a typed pointer's type may be a name with a `%` itself.
    for (ty, value, told) in [
        ("%S*", "%x", 1),
        ("{ i32, i8 }*", "%x", 1),
        ("i32 (i32, i8)*", "%0", 1),
        ("%\"a, b\"*", "%\"x y\"", 1),
        ("%S*", "null", 0),
        ("%S*", "@g", 0),
    ] {
        let store = format!("store {ty} {value}, {ty}* %p, align 8, !tbaa !5");
        let load = format!("%b = load {ty}, {ty}* %p, align 8, !tbaa !5");
        assert_eq!(reads(&[&store, &load], value, "%b"), told, "{store}");
    }
}

//! Checks in a module's text.

use tbaa_instrument::{Instrumented, SkipReason, instrument};
use tbaa_ir::{Instruction, TextErrorKind};

const TAGS: &str = r#"
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"char", !3, i64 0}
!3 = !{!"Simple C/C++ TBAA"}
!4 = !{!2, !2, i64 0}
"#;

/// What stands before the body of each function with checks.
const MARK: &str = "prefix i64 8386372526821430350 ";

fn checked(body: &str) -> Instrumented {
    let text = format!("{body}{TAGS}");
    instrument(text.as_bytes(), &tbaa_ir::read(text.as_bytes()).unwrap()).unwrap()
}

/// The functions' text with their checks, without what follows them.
#[track_caller]
fn expect(body: &str, expected: &str) -> Instrumented {
    let found = checked(body);
    let text = String::from_utf8(found.text.clone()).unwrap().replace(MARK, "");
    let end = text.find("\n!0 = ").unwrap();
    pretty_assertions::assert_eq!(text[..end + 1].trim(), expected.trim());
    // What is made is read again, and has the same accesses.
    let again = tbaa_ir::read(&found.text).unwrap();
    let before = tbaa_ir::read(format!("{body}{TAGS}").as_bytes()).unwrap();
    let own = |it: &&Instruction| {
        (it.function as usize) < before.functions().len() && it.opcode.accesses_memory()
    };
    assert_eq!(again.instructions().iter().filter(own).count(), before.instructions().len());
    found
}

#[test]
fn writes_without_a_tag_clear_and_reads_without_one_are_left() {
    let found = expect(
        "define void @f(ptr %p, ptr %q) {
  %a = load i32, ptr %p, align 4
  store i32 %a, ptr %q, align 4
  %b = load i8, ptr %p, align 1, !tbaa !4
  store i8 %b, ptr %q, align 1, !tbaa !4
  %c = load i32, ptr %p, align 4, !tbaa !0
  ret void
}
",
        "define void @f(ptr %p, ptr %q) {
  %a = load i32, ptr %p, align 4
  call void @__tbaa_witness_clear(ptr %q, i64 4), !tbaa !5
  store i32 %a, ptr %q, align 4
  %b = load i8, ptr %p, align 1, !tbaa !4
  call void @__tbaa_witness_clear(ptr %q, i64 1), !tbaa !5
  store i8 %b, ptr %q, align 1, !tbaa !4
  call void @__tbaa_witness.read4(ptr %p, i32 0)
  %c = load i32, ptr %p, align 4, !tbaa !0
  ret void
}
",
    );
    assert_eq!((found.sites, found.skipped.len()), (1, 0));
}

#[test]
fn slots_in_registers_are_left_and_others_begin_and_end() {
    expect(
        "declare void @g(ptr)
define void @f(ptr byval({ i64, i64 }) align 8 %v) {
  %register = alloca i32, align 4
  %memory = alloca [3 x i32], align 4
  %marked = alloca i16, align 2
  store i32 0, ptr %register, align 4, !tbaa !0
  call void @llvm.lifetime.start.p0(ptr %marked)
  call void @g(ptr %marked)
  call void @llvm.lifetime.end.p0(ptr %marked)
  store i32 0, ptr %memory, align 4, !tbaa !0
  %n = load i32, ptr %register, align 4, !tbaa !0
  %dynamic = alloca i64, i32 %n, align 8
  musttail call void @g(ptr %v)
  ret void
}
",
        "declare void @g(ptr)
define void @f(ptr byval({ i64, i64 }) align 8 %v) {
  call void @__tbaa_witness_fresh(ptr %v, i64 16), !tbaa !5
  %register = alloca i32, align 4
  %memory = alloca [3 x i32], align 4
  call void @__tbaa_witness_fresh(ptr %memory, i64 12), !tbaa !5
  %marked = alloca i16, align 2
  store i32 0, ptr %register, align 4, !tbaa !0
  call void @llvm.lifetime.start.p0(ptr %marked)
  call void @__tbaa_witness_fresh(ptr %marked, i64 2), !tbaa !5
  call void @__tbaa_witness.out1(ptr @g, ptr %marked, i64 2), !tbaa !5
  call void @g(ptr %marked)
  call void @__tbaa_witness_fresh(ptr %marked, i64 2), !tbaa !5
  call void @llvm.lifetime.end.p0(ptr %marked)
  call void @__tbaa_witness.write4(ptr %memory, i32 0)
  store i32 0, ptr %memory, align 4, !tbaa !0
  %n = load i32, ptr %register, align 4, !tbaa !0
  %dynamic = alloca i64, i32 %n, align 8
  %tbaa.witness.0 = zext i32 %n to i64
  %tbaa.witness.1 = mul i64 %tbaa.witness.0, 8
  call void @__tbaa_witness_fresh(ptr %dynamic, i64 %tbaa.witness.1), !tbaa !5
  call void @__tbaa_witness.out1(ptr @g, ptr %v, i64 16), !tbaa !5
  call void @__tbaa_witness_fresh(ptr %v, i64 16), !tbaa !5
  call void @__tbaa_witness_fresh(ptr %memory, i64 12), !tbaa !5
  musttail call void @g(ptr %v)
  ret void
}
",
    );
}

#[test]
fn calls_are_read_whatever_their_arguments_are() {
    let before = "@c = external global i8
declare ptr @strcpy(ptr, ptr)
define void @f(ptr %p) {
entry: %memory = alloca [3 x i32], align 4";
    let copy = "call ptr @strcpy(ptr getelementptr (i8, ptr @c, i64 1), ptr %p)";
    let set = "call ptr @memset(ptr %p, i32 0, i64 ptrtoint (ptr @c to i64))";
    expect(
        &format!(
            "{before} ; it's \"(
  call void asm \"movl $$1, $0\", \"=*m\"(ptr elementtype(i32) %p)
  %a = call ptr @strcpy(ptr \"k\"=\"v\" nonnull %memory, ptr %p)
  %b = {copy}
  {set}
  ret void
}}
"
        ),
        &format!(
            "{before} ; it's \"(
  call void @__tbaa_witness_fresh(ptr %memory, i64 12)
  call void @__tbaa_witness_clear(ptr %p, i64 4)
  call void asm \"movl $$1, $0\", \"=*m\"(ptr elementtype(i32) %p)
  %a = call ptr @strcpy(ptr \"k\"=\"v\" nonnull %memory, ptr %p)
  call void @__tbaa_witness_printed(ptr %memory, i64 -1)
  %b = {copy}
  call void @__tbaa_witness_printed(ptr getelementptr (i8, ptr @c, i64 1), i64 -1)
  call void @__tbaa_witness_clear(ptr %p, i64 ptrtoint (ptr @c to i64))
  {set}
  call void @__tbaa_witness_fresh(ptr %memory, i64 12)
  ret void
}}
"
        ),
    );
}

#[test]
fn what_is_unwound_to_goes_on_over_lines() {
    let before = "declare void @g()
@call = external constant ptr
define void @f() personality ptr @g {
  invoke void @g()
          to label %a unwind label %b
a:
  ret void
b:
  %l = landingpad { ptr, i32 }
          catch ptr @call";
    let unwound = "call void @__tbaa_witness_unwound()";
    expect(
        &format!("{before}\n  ret void\n}}\n"),
        &format!("{before}\n  {unwound}\n  ret void\n}}\n"),
    );
}

#[test]
fn nothing_stands_between_a_deoptimization_and_its_return() {
    let declare = "declare i32 @llvm.experimental.deoptimize.i32(...)
define i32 @f() {
  %memory = alloca [3 x i32], align 4
";
    let call =
        "  %r = call i32 (...) @llvm.experimental.deoptimize.i32(ptr %memory) [ \"deopt\"() ]
  ret i32 %r
}
";
    // Without tags there is no root for a tag of the checks' own.
    let fresh = "  call void @__tbaa_witness_fresh(ptr %memory, i64 12)\n";
    expect(&format!("{declare}{call}"), &format!("{declare}{fresh}{fresh}{call}"));
}

#[test]
fn attributes_that_a_check_makes_untrue_are_taken_off() {
    let body = "define i32 @f(ptr readonly %p) readonly #1 {
  %a = load i32, ptr %p, align 4, !tbaa !0
  %b = call i32 @f(ptr readonly %p) memory(argmem: read) \"readnone\"=\"kept\"
  ret i32 %b
}
attributes #1 = { nounwind memory(argmem: read, inaccessiblemem: none) }
attributes #2 = { speculatable }
";
    let text = String::from_utf8(checked(body).text).unwrap().replace(MARK, "");
    assert!(text.contains("define i32 @f(ptr readonly %p) \"tbaa-witness\" #1 {"), "{text}");
    assert!(
        text.contains("@f(ptr readonly %p) \"tbaa-witness\" \"readnone\"=\"kept\"\n"),
        "{text}"
    );
    assert!(text.contains("attributes #1 = { nounwind \"tbaa-witness\" }\n"), "{text}");
    assert!(text.contains("attributes #2 = { \"tbaa-witness\" }\n"), "{text}");
}

#[test]
fn what_cannot_be_checked_is_listed() {
    let found = checked(
        "define void @naked(ptr %p) naked {
  store i32 0, ptr %p, align 4, !tbaa !0
  ret void
}
define void @collected(ptr %p) gc \"statepoint-example\" {
  store i32 0, ptr %p, align 4, !tbaa !0
  ret void
}
define void @far(ptr addrspace(3) %p, ptr swifterror %e, ptr %v) {
  store i32 0, ptr addrspace(3) %p, align 4, !tbaa !0
  store ptr null, ptr %e, align 8, !tbaa !0
  store <vscale x 4 x i32> zeroinitializer, ptr %v, align 4, !tbaa !0
  call void @llvm.vp.store.v4i32.p0(<4 x i32> undef, ptr %v, <4 x i1> undef, i32 4), !tbaa !0
  ret void
}
define void @windows(ptr %p) {
  %pad = cleanuppad within none []
  store i32 0, ptr %p, align 4, !tbaa !0
  ret void
}
",
    );
    let reasons: Vec<_> = found.skipped.iter().map(|it| (&it.function[..], it.reason)).collect();
    let expected = [
        ("naked", SkipReason::Naked),
        ("collected", SkipReason::Collected),
        ("far", SkipReason::AddressSpace),
        ("far", SkipReason::SwiftError),
        ("far", SkipReason::Size),
        ("far", SkipReason::Call),
        ("windows", SkipReason::Funclets),
    ];
    assert_eq!((reasons, found.sites), (expected.to_vec(), 0));
}

#[test]
fn modules_that_cannot_be_checked_are_refused() {
    let refused = |text: &str| {
        let text = format!("{text}{TAGS}");
        let module = tbaa_ir::read(text.as_bytes()).unwrap();
        let error = instrument(text.as_bytes(), &module).unwrap_err();
        assert!(matches!(error.kind, TextErrorKind::Expected { .. }));
        error.to_string()
    };
    let typed =
        "define void @f(i32* %p) {\n  store i32 0, i32* %p, align 4, !tbaa !0\n  ret void\n}\n";
    assert!(refused(typed).contains("typed pointers"), "{}", refused(typed));
    let again =
        checked("define void @f(ptr %p) {\n  store i32 0, ptr %p, !tbaa !0\n  ret void\n}\n");
    let again = String::from_utf8(again.text).unwrap().replace(TAGS, "");
    assert!(refused(&again).contains("has been instrumented before"));
    for (triple, supported) in [
        ("x86_64-pc-linux-gnu", true),
        ("x86_64-unknown-linux", true),
        ("i386-pc-linux-gnu", false),
        ("i686-unknown-linux-gnu", false),
        ("arm-unknown-linux-gnueabihf", false),
        ("aarch64-unknown-linux-gnu", false),
        ("riscv64-unknown-linux-gnu", false),
        ("s390x-unknown-linux-gnu", false),
        ("wasm32-unknown-unknown", false),
        ("x86_64-apple-darwin", false),
        ("x86_64-pc-windows-msvc", false),
        ("x86_64-unknown-linux-musl", false),
        ("x86_64-unknown-linux-gnux32", false),
        ("x86_64-unknown-linux-android", false),
    ] {
        let text = format!("target triple = \"{triple}\"\n{TAGS}");
        match supported {
            true => assert_eq!(checked(&text.replace(TAGS, "")).sites, 0),
            false => {
                let said = refused(&text.replace(TAGS, ""));
                assert!(said.contains("x86_64 Linux with the GNU C library"), "{said}");
            }
        }
    }
}

#[test]
fn a_header_begins_where_its_define_does_whatever_the_name_is() {
    expect(
        "define void @redefine(ptr byval(i32) %v) memory(argmem: read) {
  ret void
}
",
        "define void @redefine(ptr byval(i32) %v) \"tbaa-witness\" {
  call void @__tbaa_witness_fresh(ptr %v, i64 4)
  call void @__tbaa_witness_fresh(ptr %v, i64 4)
  ret void
}
",
    );
}

#[test]
fn a_slot_that_a_second_line_names_stays_in_memory() {
    let found = checked(
        "declare void @g(ptr)
define void @f() {
  %s = alloca i32, align 4
  store i32 0, ptr %s, align 4, !tbaa !0
  %e = getelementptr i8, ptr
    %s, i64 0
  call void @g(ptr %e)
  ret void
}
",
    );
    let text = String::from_utf8(found.text).unwrap();
    assert!(text.contains("write4(ptr %s"), "{text}");
}

#[test]
fn arguments_that_another_bracket_closes_are_refused() {
    let text = "define void @f(ptr %p) {\n  call void @g(ptr %p]\n  ret void\n}\n";
    let module = tbaa_ir::read(text.as_bytes()).unwrap();
    assert!(module.body(text.as_bytes(), 0).statements[0].call().is_none());
}

/// Functions that may not be checked are told of, with what their pointers are to; those
/// that are known or declared to write nothing are not.
#[test]
fn calls_that_may_write_are_told_of() {
    let before = "@g = global [3 x i32] zeroinitializer
@c = private constant [2 x i8] c\"a\\00\"
declare i64 @strlen(ptr)
declare i64 @reads(ptr) memory(read)
declare i64 @strtol(ptr, ptr, i32)
declare ptr @finds(ptr, ...)
define internal void @own(ptr %p) {
  ret void
}
define void @f(ptr %p, ptr %fn) {
";
    let after = "  ret void\n}\n";
    expect(
        &format!(
            "{before}  %a = call i64 @strlen(ptr %p)
  %b = call i64 @reads(ptr %p)
  call void @own(ptr %p)
  %c = call i64 @strtol(ptr %p, ptr @g, i32 10)
  %d = call ptr (ptr, ...) @finds(ptr @c, ptr @g, ptr null, i32 1)
  %e = call ptr %fn(ptr %p, ptr readonly %p, ptr byval(i64) %p)
  call void asm sideeffect \"\", \"r,~{{memory}}\"(ptr %p)
{after}"
        ),
        &format!(
            "{before}  %a = call i64 @strlen(ptr %p)
  %b = call i64 @reads(ptr %p)
  call void @own(ptr %p)
  call void @__tbaa_witness.out1(ptr @strtol, ptr @g, i64 12)
  %c = call i64 @strtol(ptr %p, ptr @g, i32 10)
  call void @__tbaa_witness.out1(ptr @finds, ptr @g, i64 12)
  %d = call ptr (ptr, ...) @finds(ptr @c, ptr @g, ptr null, i32 1)
  call void @__tbaa_witness.out1(ptr @finds, ptr %d, i64 0)
  call void @__tbaa_witness.out1(ptr %fn, ptr %p, i64 0)
  %e = call ptr %fn(ptr %p, ptr readonly %p, ptr byval(i64) %p)
  call void @__tbaa_witness.out1(ptr %fn, ptr %e, i64 0)
  call void @__tbaa_witness_barrier()
  call void asm sideeffect \"\", \"r,~{{memory}}\"(ptr %p)
{after}"
        ),
    );
}

/// What is allocated and given back is told of, after a call that may unwind as well.
#[test]
fn allocations_are_told_of() {
    let before = "declare ptr @malloc(i64)
declare ptr @calloc(i64, i32)
declare ptr @own(ptr, i64) allocsize(1)
declare void @free(ptr)
define void @f() personality ptr @free {
";
    expect(
        &format!(
            "{before}  %a = call ptr @malloc(i64 8)
  %b = call ptr @calloc(i64 8, i32 2)
  %c = invoke ptr @own(ptr null, i64 9) #7
          to label %ok unwind label %bad
ok:
  call void @free(ptr %a)
  ret void
bad:
  %l = landingpad {{ ptr, i32 }} cleanup
  resume {{ ptr, i32 }} %l
}}
attributes #7 = {{ allocsize(1) }}
"
        ),
        &format!(
            "{before}  %a = call ptr @malloc(i64 8)
  call void @__tbaa_witness_allocated(ptr %a, i64 8)
  %tbaa.witness.0 = mul i64 8, 2
  %b = call ptr @calloc(i64 8, i32 2)
  call void @__tbaa_witness_allocated(ptr %b, i64 %tbaa.witness.0)
  %c = invoke ptr @own(ptr null, i64 9) #7
          to label %ok unwind label %bad
ok:
  call void @__tbaa_witness_allocated(ptr %c, i64 9)
  call void @__tbaa_witness.out1(ptr @own, ptr %c, i64 0)
  call void @__tbaa_witness_released(ptr %a)
  call void @free(ptr %a)
  ret void
bad:
  %l = landingpad {{ ptr, i32 }} cleanup
  call void @__tbaa_witness_unwound()
  resume {{ ptr, i32 }} %l
}}
attributes #7 = {{ allocsize(1) }}
"
        ),
    );
}

/// The mark stands before what a header ends with, and twice nowhere.
#[test]
fn functions_with_checks_are_marked() {
    for (header, marked) in [
        ("define void @f() {", "define void @f() MARK{"),
        (
            "define linkonce_odr void @\"{ personality\"(ptr byval({ i32 }) %p) #0 comdat align 16 personality ptr @p {",
            "@\"{ personality\"(ptr byval({ i32 }) %p) #0 comdat align 16 MARKpersonality ptr @p {",
        ),
        ("define void @f() \"k\"=\"{\" !dbg !4 {", "define void @f() \"k\"=\"{\" MARK!dbg !4 {"),
        ("define void @f() prefix i32 1 {", "define void @f() prefix i32 1 {"),
    ] {
        let text = checked(&format!("{header}\n  ret void\n}}\n"));
        let text = String::from_utf8(text.text).unwrap();
        assert!(text.contains(&marked.replace("MARK", MARK)), "{text}");
        assert_eq!(text.matches("prefix i").count(), 1, "{text}");
    }
}

/// A read of the same bytes by the same tag is not checked again, until something may have
/// been written.
#[test]
fn repeated_reads_are_checked_once() {
    let found = checked(
        "declare void @g()
declare i32 @pure() memory(read)
define void @f(ptr %0) {
  %p = alloca ptr, align 8
  store ptr %0, ptr %p, align 8, !tbaa !4
  %1 = load ptr, ptr %p, align 8
  %2 = getelementptr inbounds { i32, i32 }, ptr %1, i32 0, i32 1
  %first = load i32, ptr %2, align 4, !tbaa !0
  %3 = load ptr, ptr %p, align 8
  %4 = getelementptr inbounds { i32, i32 }, ptr %3, i32 0, i32 1
  %again = load i32, ptr %4, align 4, !tbaa !0
  %5 = call i32 @pure()
  %pure = load i32, ptr %4, align 4, !tbaa !0
  %6 = getelementptr inbounds { i32, i32 }, ptr %3, i32 0, i32 0
  %other = load i32, ptr %6, align 4, !tbaa !0
  call void @g()
  %called = load i32, ptr %4, align 4, !tbaa !0
  store i32 0, ptr %6, align 4, !tbaa !0
  %written = load i32, ptr %4, align 4, !tbaa !0
  %7 = getelementptr inbounds i8, ptr %3, i64 8
  store ptr %7, ptr %p, align 8
  %8 = load ptr, ptr %p, align 8
  %9 = getelementptr inbounds { i32, i32 }, ptr %8, i32 0, i32 1
  %moved = load i32, ptr %9, align 4, !tbaa !0
  br label %next
next:
  %block = load i32, ptr %9, align 4, !tbaa !0
  ret void
}
",
    );
    let text = String::from_utf8(found.text).unwrap();
    let before = |name: &str| {
        let lines: Vec<_> = text.lines().collect();
        let at = lines.iter().position(|line| line.starts_with(&format!("  %{name} = "))).unwrap();
        lines[at - 1].contains("__tbaa_witness.read4")
    };
    for name in ["first", "other", "called", "written", "moved", "block"] {
        assert!(before(name), "{name}: {text}");
    }
    for name in ["again", "pure"] {
        assert!(!before(name), "{name}: {text}");
    }
}

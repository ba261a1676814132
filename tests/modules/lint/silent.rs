//! Correct code that resembles what a lint is about, which no lint reports.

use tbaa_check::lint::{Options, lint};
use tbaa_ir::Keep;

/// The tags `!0`, of an `int`, `!3`, of a `float`, and `!5`, of a pointer.
pub(super) const TAGS: &str = r#"
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"root"}
!3 = !{!4, !4, i64 0}
!4 = !{!"float", !2, i64 0}
!5 = !{!6, !6, i64 0}
!6 = !{!"any pointer", !2, i64 0}
!keep = !{!5}
"#;

#[track_caller]
fn silent(code: &str) {
    let source = code.to_owned() + TAGS;
    let module = tbaa_ir::read_with(source.as_bytes(), Keep::All).unwrap();
    let options = ["TBAA114", "TBAA115"]
        .map(|code| match code.parse() {
            Ok(tbaa_check::Code::Lint(lint)) => lint,
            _ => panic!("{code}"),
        })
        .into_iter()
        .fold(Options::default(), |options, unused| options.set(unused, None));
    let found = lint(&module, source.as_bytes(), &options);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn two_pointers_of_one_typed_pointer_type() {
    silent(
        "%S = type { i32 }
define void @f(%S** %p, %S** %q, %S* %a, %S* %b) {
  store %S* %a, %S** %p, align 8, !tbaa !5
  %x = load %S*, %S** %p, align 8, !tbaa !5
  store %S* %b, %S** %q, align 8, !tbaa !5
  %y = load %S*, %S** %q, align 8, !tbaa !5
  %xi = bitcast %S* %x to i32*
  %v = load i32, i32* %xi, align 4, !tbaa !0
  %yf = bitcast %S* %y to float*
  %w = load float, float* %yf, align 4, !tbaa !3
  ret void
}
",
    );
}

#[test]
fn an_offset_before_a_comment_that_ends_in_a_nought() {
    silent(
        "define void @f(ptr %p) {
  %v = load i32, ptr %p, align 4, !tbaa !0
  %q = getelementptr i8, ptr %p, i64 4 ; and not 0
  %w = load float, ptr %q, align 4, !tbaa !3
  ret void
}
",
    );
}

#[test]
fn intrinsics_that_call_or_store() {
    for call in [
        "%t = call token (i64, i32, ptr, i32, i32, ...) \
         @llvm.experimental.gc.statepoint.p0(i64 0, i32 0, ptr @g, i32 0, i32 0, i32 0, i32 0)",
        "call void (i64, i32, ptr, i32, ...) \
         @llvm.experimental.patchpoint.void(i64 0, i32 15, ptr @g, i32 0)",
        "call void @llvm.aarch64.neon.st2.v4f32.p0(<4 x float> %x, <4 x float> %x, ptr %p)",
        "call void @g(ptr @llvm.dbg.value)",
    ] {
        silent(&format!(
            "define void @f(ptr %p, <4 x float> %x) {{
  store i32 1, ptr %p, align 4, !tbaa !0
  {call}
  %w = load float, ptr %p, align 4, !tbaa !3
  ret void
}}
"
        ));
    }
}

#[test]
fn a_slot_that_begins_anew() {
    let function = |slot: &str, pointer: &str| {
        format!(
            "define i32 @f(ptr %q) {{
  %p = alloca float
  %t = alloca i32
  store float 1.0, ptr {pointer}, align 4, !tbaa !3
  call void @llvm.lifetime.end.p0(ptr {slot}) #2
  call void @llvm.lifetime.start.p0(i64 4, ptr nonnull {slot})
  %v = load i32, ptr {pointer}, align 4, !tbaa !0
  ret i32 %v
}}
"
        )
    };
    silent(&function("%p", "%p"));
    // A pointer that may be into the slot.
    silent(&function("%p", "%q"));
    silent(&function("%q", "%p"));
}

#[test]
fn elements_that_a_pass_copies_at_once() {
    silent(
        "define void @f(ptr %p, ptr %q) {
  %v = load i64, ptr %p, align 4, !tbaa !9
  store i64 %v, ptr %q, align 4, !tbaa !9
  ret void
}
!7 = !{!\"Simple C/C++ TBAA\"}
!8 = !{!\"int\", !7, i64 0}
!9 = !{!8, !8, i64 0}
",
    );
}

#[test]
fn without_a_data_layout_nobody_knows_a_pointer() {
    let code = "%struct.S = type { ptr, ptr }
define void @f(ptr %p, ptr %q) {
  store ptr null, ptr %p, align 4, !tbaa !10
  store ptr null, ptr %q, align 4, !tbaa !11
  ret void
}
!7 = !{!\"Simple C/C++ TBAA\"}
!8 = !{!\"any pointer\", !7, i64 0}
!9 = !{!\"S\", !8, i64 0, !8, i64 4}
!10 = !{!9, !8, i64 0}
!11 = !{!9, !8, i64 4}
";
    silent(code);
    let source = format!("target datalayout = \"e-p:64:64\"\n{code}{TAGS}");
    let module = tbaa_ir::read_with(source.as_bytes(), Keep::All).unwrap();
    let found = lint(&module, source.as_bytes(), &Options::default());
    let codes: Vec<_> = found.iter().map(|it| it.code.to_string()).collect();
    for code in ["TBAA106", "TBAA107"] {
        assert!(codes.contains(&code.to_owned()), "{codes:?}");
    }
}

#[test]
fn what_is_accessed_through_no_pointer() {
    for nothing in ["undef", "poison"] {
        silent(&format!(
            "define void @f() {{
  store float 1.0, ptr {nothing}, align 4, !tbaa !3
  %v = load i32, ptr {nothing}, align 4, !tbaa !0
  %w = load float, ptr {nothing}, align 4, !tbaa !3
  ret void
}}
"
        ));
    }
}

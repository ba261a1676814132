//! Correct code that resembles what a lint is about, which no lint reports.

use tbaa::lint::{Options, lint};
use tbaa::text::{self, Keep};

const TAGS: &str = r#"
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
    let module = text::read_with(source.as_bytes(), Keep::All).unwrap();
    let options = ["TBAA114", "TBAA115"]
        .map(|code| match code.parse() {
            Ok(tbaa::Code::Lint(lint)) => lint,
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

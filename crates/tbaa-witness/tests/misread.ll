; struct T { int x, y; }; struct S { T t; }: `s.t` is assigned and `s.t.y` read.
source_filename = "misread.ll"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@s = global { i32, i32 } zeroinitializer

define i32 @main() {
  store i64 7, ptr @s, align 4, !tbaa !4
  %y = load i32, ptr getelementptr (i8, ptr @s, i64 4), align 4, !tbaa !5
  ret i32 %y
}

!0 = !{!"R"}
!1 = !{!0, i64 4, !"int"}
!2 = !{!0, i64 8, !"T", !1, i64 0, i64 4, !1, i64 4, i64 4}
!3 = !{!0, i64 8, !"S", !2, i64 0, i64 8}
!4 = !{!3, !2, i64 0, i64 8}
!5 = !{!3, !1, i64 4, i64 4}

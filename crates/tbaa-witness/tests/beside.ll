; struct S { int x, y; }: four bytes by the tag of a whole `S`, which has them at
; its start, are written where `s.y` is read.
source_filename = "beside.ll"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@s = global { i32, i32 } zeroinitializer

define i32 @main() {
  store i32 0, ptr getelementptr (i8, ptr @s, i64 4), align 4, !tbaa !3
  %y = load i32, ptr getelementptr (i8, ptr @s, i64 4), align 4, !tbaa !4
  ret i32 %y
}

!0 = !{!"R"}
!1 = !{!0, i64 4, !"int"}
!2 = !{!0, i64 8, !"S", !1, i64 0, i64 4, !1, i64 4, i64 4}
!3 = !{!2, !2, i64 0, i64 8}
!4 = !{!2, !1, i64 4, i64 4}

; verdict: so LLVM is wrong: docs/llvm.md
define i32 @f(i64 %i, i32 %n, i1 %c) noinline {
entry:
  %a = alloca [8 x i32]
  store i32 0, ptr %a
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %latch ]
  %j = zext i32 %k to i64
  %b = getelementptr i32, ptr %a, i64 %i
  %p = getelementptr i32, ptr %b, i64 %j
  store i32 5, ptr %p, !tbaa !3                ; an int
  br i1 %c, label %skipped, label %latch
skipped:
  store i32 7, ptr %a, !tbaa !4                ; a float; it never runs
  br label %latch
latch:
  %next = add i32 %k, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end
end:
  %v = load i32, ptr %a
  ret i32 %v
}
define i32 @main() {
  %r = call i32 @f(i64 0, i32 4, i1 false)
  ret i32 %r
}
!0 = !{!"root"}
!1 = !{!"int", !0, i64 0}
!2 = !{!"float", !0, i64 0}
!3 = !{!1, !1, i64 0}
!4 = !{!2, !2, i64 0}

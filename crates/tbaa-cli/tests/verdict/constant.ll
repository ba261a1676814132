; verdict: LLVM may read it before it is initialised
define i32 @f(ptr dereferenceable(4) align 4 %p, ptr %q, i32 %n) noinline {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %all, %loop ]
  %a = getelementptr i32, ptr %q, i32 %k
  store i32 5, ptr %a
  %v = load i32, ptr %p, !tbaa !2
  %all = add i32 %sum, %v
  %next = add i32 %k, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret i32 %all
}
define i32 @main() {
  %o = alloca i32
  store i32 3, ptr %o
  %r = call i32 @f(ptr %o, ptr %o, i32 1)
  ret i32 %r
}
!0 = !{!"root"}
!1 = !{!"int", !0, i64 0}
!2 = !{!1, !1, i64 0, i64 1}

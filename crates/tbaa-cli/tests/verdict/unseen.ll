; verdict: so LLVM is wrong, unless one of these does
define i32 @f(i1 %c, ptr dereferenceable(4) align 4 %o, ptr %p) noinline {
entry:
  %a = alloca i32
  store i32 1, ptr %a, !tbaa !3
  %u = load i32, ptr %o, !tbaa !4
  store i32 7, ptr %p, !tbaa !4
  br i1 %c, label %l, label %r
l:
  br label %m
r:
  br label %m
m:
  %s = phi ptr [ %a, %l ], [ %o, %r ]
  %v = load i32, ptr %s, !tbaa !3
  %w = load i32, ptr %o, !tbaa !4
  %x = mul i32 %w, 10
  %y = add i32 %x, %v
  %z = add i32 %y, %u
  ret i32 %z
}
define void @unseen(ptr %p) disable_sanitizer_instrumentation {
  store i32 1, ptr %p, !tbaa !3
  ret void
}
define i32 @main() {
  %o = alloca i32
  store i32 3, ptr %o, !tbaa !4
  %r = call i32 @f(i1 true, ptr %o, ptr %o)
  ret i32 %r
}
!0 = !{!"root"}
!1 = !{!"int", !0, i64 0}
!2 = !{!"float", !0, i64 0}
!3 = !{!1, !1, i64 0}
!4 = !{!2, !2, i64 0}

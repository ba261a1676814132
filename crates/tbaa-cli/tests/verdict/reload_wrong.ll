; verdict: so the program or its tags are wrong
define i32 @f(ptr %p, ptr %q, ptr %r) noinline {
  store i32 1, ptr %p, !tbaa !3                ; *p is an int
  store i32 2, ptr %q, !tbaa !4                ; then a float, and p == q == r
  %v = load i32, ptr %r, !tbaa !4
  %nothing = add i32 %v, 0
  %w = load i32, ptr %p, !tbaa !3
  ret i32 %w
}
define i32 @main() {
  %o = alloca i32
  %r = call i32 @f(ptr %o, ptr %o, ptr %o)
  ret i32 %r
}
!0 = !{!"root"}
!1 = !{!"int", !0, i64 0}
!2 = !{!"float", !0, i64 0}
!3 = !{!1, !1, i64 0}
!4 = !{!2, !2, i64 0}

define i64 @f(ptr %0) {
  call void @g(ptr %0
  p0(define void @x(ptr %p) {ptr %7)
  call void @h(ptr "a" %1)
  ret i64 0
}
define void @x(ptr %p) {
  ret void
}
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2}
!2 = !{!"root"}

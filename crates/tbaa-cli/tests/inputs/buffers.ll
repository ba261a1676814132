; As TVM makes them: one scalar's name under each buffer.
define void @f(ptr %a, ptr %b) {
  store i8 1, ptr %a, !tbaa !0
  store i8 1, ptr %b, !tbaa !1
  ret void
}
!0 = !{!2, !2, i64 0}
!1 = !{!3, !3, i64 0}
!2 = !{!"i8", !4, i64 0}
!3 = !{!"i8", !5, i64 0}
!4 = !{!"buffer.a", !6, i64 0}
!5 = !{!"buffer.b", !6, i64 0}
!6 = !{!"tvm-tbaa"}

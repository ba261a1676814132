; union { int i; float f; } as two tags of one place
define void @f(ptr %p) {
  store i32 1, ptr %p, !tbaa !0
  store float 1.0, ptr %p, !tbaa !1
  ret void
}
!0 = !{!2, !3, i64 0}
!1 = !{!2, !4, i64 0}
!2 = !{!"S", !3, i64 0, !4, i64 0}
!3 = !{!"int", !5, i64 0}
!4 = !{!"float", !5, i64 0}
!5 = !{!"R"}

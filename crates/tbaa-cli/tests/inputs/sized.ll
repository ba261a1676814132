define void @f(ptr %p, ptr %q) {
  store i32 1, ptr %p, align 4, !tbaa !0
  store float 1.0, ptr %q, align 4, !tbaa !6
  store i64 1, ptr %q, align 4, !tbaa !7
  ret void
}
!0 = !{!1, !2, i64 0, i64 4}
!1 = !{!3, i64 8, !"S", !2, i64 0, i64 4, !5, i64 4, i64 4}
!2 = !{!3, i64 4, !"int"}
!3 = !{!4, i64 1, !"omnipotent char"}
!4 = !{!"Simple C++ TBAA"}
!5 = !{!3, i64 4, !"float"}
!6 = !{!5, !5, i64 0, i64 4}
!7 = !{!1, !1, i64 0, i64 8, i64 1}

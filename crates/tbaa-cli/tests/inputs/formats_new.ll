define void @g(ptr %p) {
  store i32 1, ptr %p, !tbaa !0
  ret void
}
!0 = !{!1, !1, i64 0, i64 4}
!1 = !{!2, i64 4, !"int"}
!2 = !{!3, i64 1, !"omnipotent char"}
!3 = !{!"Simple C/C++ TBAA"}

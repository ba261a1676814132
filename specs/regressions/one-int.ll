; Two equal types that refer ahead: as two, an `int` would not alias itself.
!tbaa.tags = !{!3, !4, !6}

!0 = !{!"int", !2, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"R"}
!3 = !{!0, !0, i64 0}
!4 = !{!1, !1, i64 0}
!5 = !{!"float", !2, i64 0}
!6 = !{!5, !5, i64 0}

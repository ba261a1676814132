; As the RFC of 2017 prints metadata: integers without types.
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"R"}
!3 = !{!"M", !1, 0}
!4 = !{!3, !3, 0}

; A type of one root inside a type of another: stored answers were vaguer.
!tbaa.tags = !{!0, !3, !6}
!tbaa.types = !{!8}
!0 = !{!1, !1, i64 0, i64 4}
!1 = !{!2, i64 4, !"s2"}
!2 = !{!"root1"}
!3 = !{!4, !4, i64 0, i64 4}
!4 = !{!5, i64 4, !"s3"}
!5 = !{!"root0"}
!6 = !{!7, !7, i64 0, i64 4}
!7 = !{!2, i64 4, !"S5", !4, i64 0, i64 4}
!8 = !{!5, i64 4, !"s4"}

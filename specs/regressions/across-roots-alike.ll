; Tags of equal answers were of two classes.
!tbaa.tags = !{!0, !6}
!0 = !{!1, !2, i64 0}
!1 = !{!"S4", !2, i64 0, !4, i64 0}
!2 = !{!"s3", !3, i64 0}
!3 = !{!"root0"}
!4 = !{!"s2", !5, i64 0}
!5 = !{!"root1"}
!6 = !{!4, !4, i64 0}

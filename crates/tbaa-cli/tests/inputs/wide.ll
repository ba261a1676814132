target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"
define void @f(ptr %p, ptr %q) {
  store i64 1, ptr %p, !tbaa !6
  %o = atomicrmw add ptr %p, i64 1 seq_cst, !tbaa !6
  store float 0.0, ptr %q, !tbaa !5
  ret void
}
!0 = !{!"root"}
!1 = !{!0, i64 1, !"char"}
!2 = !{!1, i64 4, !"int"}
!3 = !{!1, i64 4, !"float"}
!4 = !{!1, i64 8, !"S", !2, i64 0, i64 4, !3, i64 4, i64 4}
!5 = !{!4, !3, i64 4, i64 4}
!6 = !{!4, !2, i64 0, i64 4}

define void @f(ptr %p, ptr %q) {
  store i32 1, ptr %p, !tbaa !8
  store float 1.0, ptr %q, !tbaa !12
  ret void
}
!3 = !{!"omnipotent char", !4, i64 0}
!4 = !{!"Simple C/C++ TBAA"}
!7 = !{!"int", !3, i64 0}
!8 = !{!7, !7, i64 0}
!11 = !{!"float", !3, i64 0}
!12 = !{!11, !11, i64 0}

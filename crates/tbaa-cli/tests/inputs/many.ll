define void @f(ptr %p) {
  store i32 1, ptr %p, !tbaa !0
  store i32 1, ptr %p, !tbaa !1
  store i32 1, ptr %p, !tbaa !2
  store i32 1, ptr %p, !tbaa !3
  store i32 1, ptr %p, !tbaa !4
  store i32 1, ptr %p, !tbaa !5
  store i32 1, ptr %p, !tbaa !6
  store i32 1, ptr %p, !tbaa !7
  store i32 1, ptr %p, !tbaa !8
  store i32 1, ptr %p, !tbaa !9
  store i32 1, ptr %p, !tbaa !10
  store i32 1, ptr %p, !tbaa !11
  store i32 1, ptr %p, !tbaa !12
  store i32 1, ptr %p, !tbaa !13
  ret void
}
!0 = !{!20, !20, i64 0}
!1 = !{!20, !20, i64 1}
!2 = !{!20, !20, i64 2}
!3 = !{!20, !20, i64 3}
!4 = !{!20, !20, i64 4}
!5 = !{!20, !20, i64 5}
!6 = !{!20, !20, i64 6}
!7 = !{!20, !20, i64 7}
!8 = !{!20, !20, i64 8}
!9 = !{!20, !20, i64 9}
!10 = !{!20, !20, i64 10}
!11 = !{!20, !20, i64 11}
!12 = !{!20, !20, i64 12}
!13 = !{!20, !20, i64 13}
!20 = !{!"int", !21, i64 0}
!21 = !{!"root"}

define void @f(ptr %p) {
  store i32 1, ptr %p, !tbaa !0
  store i32 1, ptr %p, !tbaa !3
  store i32 1, ptr %p, !tbaa !5
  store i32 1, ptr %p, !tbaa !6
  ret void
}
!0 = !{!1, !1, i64 0}
!1 = !{!"a", !2, i64 0}
!2 = !{!"b", !1, i64 0}
!3 = !{!4, !4, i64 0}
!4 = !{!"int", !8, i64 0}
!5 = !{!4, !4, !"zero"}
!6 = !{!7, !4, i64 8}
!7 = !{!"S", !4, i64 0, !4, !"four"}
!8 = !{!"root"}

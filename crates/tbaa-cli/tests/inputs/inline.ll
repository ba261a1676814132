define void @f(ptr %p) {
  store i32 1, ptr %p, !tbaa !{!{!"S", !2, i64 0, !3, i64 4}, !2, i64 0}
  store i32 1, ptr %p, !tbaa !{!{!"int", !3, i64 0}, !2, i64 0}
  store i32 1, ptr %p, !tbaa !1
  store i32 1, ptr %p, !tbaa !0
  ret void
}
!0 = !{!2, !2, i64 0}
!1 = !{!4, !4, i64 0}
!2 = !{!"int", !{!"char", !5, i64 0}, i64 0}
!3 = !{!"long", !{!"char", !5, i64 0}, i64 0}
!4 = !{!"short", !{!"char", !5, i64 0}, i64 0}
!5 = !{!"root"}

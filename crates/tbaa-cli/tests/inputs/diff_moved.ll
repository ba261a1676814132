define void @f(ptr %p, ptr %q) {
  %a = load i32, ptr %p, !tbaa !4
  store i8 0, ptr %q
  store float 1.0, ptr %q, !tbaa !4
  %b = load i32, ptr %p, !tbaa !4
  ret void
}
!0 = !{!"root"}
!1 = !{!"char", !0, i64 0}
!2 = !{!"int", !1, i64 0}
!3 = !{!"float", !1, i64 0}
!4 = !{!2, !2, i64 0}
!5 = !{!3, !3, i64 0}
!6 = !{!"S", !2, i64 0, !3, i64 4}
!7 = !{!6, !2, i64 0}

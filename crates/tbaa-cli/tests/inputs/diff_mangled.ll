define void @_Z5clearPiPf(ptr %p, ptr %q) {
  store i32 0, ptr %p, !tbaa !0
  store float 0.0, ptr %q, !tbaa !3
  ret void
}
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"root"}
!3 = !{!4, !4, i64 0}
!4 = !{!"float", !2, i64 0}

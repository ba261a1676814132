define void @f(ptr %p, ptr %q) {
  %a = load i32, ptr %p, !tbaa !104
  store float 1.0, ptr %q, !tbaa !105
  %b = load i32, ptr %p, !tbaa !104
  ret void
}
!107 = !{!106, !102, i64 0}
!106 = !{!"S", !102, i64 0, !103, i64 4}
!105 = !{!103, !103, i64 0}
!104 = !{!102, !102, i64 0}
!103 = !{!"float", !101, i64 0}
!102 = !{!"int", !101, i64 0}
!101 = !{!"char", !100, i64 0}
!100 = !{!"root"}

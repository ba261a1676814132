define void @f(ptr %p) {
  store i32 1, ptr %p, !tbaa !0
  ret void
}
; struct Empty {}; struct D { int i; Empty e; };
!0 = !{!1, !3, i64 0}
!1 = !{!"_ZTS1D", !3, i64 0, !2, i64 4}
!2 = !{!"_ZTS5Empty"}
!3 = !{!"int", !4, i64 0}
!4 = !{!"omnipotent char", !5, i64 0}
!5 = !{!"Simple C++ TBAA"}

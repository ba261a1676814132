; Six mistakes of a front end, one a function.
define void @two_roots(ptr %p, ptr %q) {
  store i32 1, ptr %p, !tbaa !10
  store float 1.0, ptr %q, !tbaa !20
  ret void
}
define void @one_scalar(ptr %p, ptr %q) {
  store i32 1, ptr %p, !tbaa !10
  store ptr %q, ptr %q, !tbaa !10
  ret void
}
define i32 @type_as_tag(ptr %p) {
  %v = load i32, ptr %p, !tbaa !11
  ret i32 %v
}
%union.U = type { i64 }
define i64 @union_int(ptr %p) {
  %f = getelementptr %union.U, ptr %p, i32 0, i32 0
  %v = load i64, ptr %f, !tbaa !12
  ret i64 %v
}
define double @union_double(ptr %p) {
  %f = getelementptr %union.U, ptr %p, i32 0, i32 0
  %v = load double, ptr %f, !tbaa !14
  ret double %v
}
%S = type { i32, float }
define i32 @whole_struct(ptr %p, ptr %q, %S %s) {
  store %S %s, ptr %p, !tbaa !16
  %f = getelementptr %S, ptr %q, i32 0, i32 0
  %v = load i32, ptr %f, !tbaa !10
  ret i32 %v
}
define void @order(ptr %p) {
  store i32 1, ptr %p, !tbaa !18
  ret void
}
!0 = !{!"my root"}
!1 = !{!"int", !0, i64 0}
!2 = !{!"long", !0, i64 0}
!3 = !{!"double", !0, i64 0}
!4 = !{!"pointer", !0, i64 0}
!5 = !{!"T", !1, i64 4, !1, i64 0}
!6 = !{!"your root"}
!7 = !{!"float", !6, i64 0}
!10 = !{!1, !1, i64 0}
!11 = !{!"int", !0, i64 0}
!12 = !{!2, !2, i64 0}
!14 = !{!3, !3, i64 0}
!16 = !{!4, !4, i64 0}
!18 = !{!5, !1, i64 4}
!20 = !{!7, !7, i64 0}

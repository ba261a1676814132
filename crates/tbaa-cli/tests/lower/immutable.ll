declare void @g()
define i32 @f(ptr %p) {
  %a = load i32, ptr %p, !tbaa !1
  call void @g()
  %b = load i32, ptr %p, !tbaa !1
  %c = add i32 %a, %b
  ret i32 %c
}
!0 = !{!"root"}
!2 = !{!"int", !0, i64 0}
!1 = !{!2, !2, i64 0, i64 1}

; Title: a program that runs and ends with 1 is judged
; $ tbaa bisect FILE --recipe run
; says: this module's tags are not to blame
@g = global i32 0
define i32 @main(i32 %c) {
  store i32 %c, ptr @g, !tbaa !0
  ret i32 1
}
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"root"}

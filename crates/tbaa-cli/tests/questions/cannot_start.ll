; Title: a program that cannot start is not acquitted
; $ tbaa bisect FILE --recipe run
; says: lli cannot start the program
; never: not to blame
; exit: 2
@g = global i32 0
define i32 @main(i32 %c) {
  store i32 %c, ptr @g, !tbaa !0
  %v = call i32 @missing()
  ret i32 %v
}
declare i32 @missing()
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"root"}

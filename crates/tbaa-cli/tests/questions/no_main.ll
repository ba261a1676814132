; Title: a module without main is not acquitted
; $ tbaa bisect FILE --recipe run
; says: lli cannot start the program
; exit: 2
@g = global i32 0
define i32 @other(i32 %c) {
  store i32 %c, ptr @g, !tbaa !0
  ret i32 %c
}
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"root"}

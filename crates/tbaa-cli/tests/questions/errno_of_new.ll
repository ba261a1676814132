; Title: errno that operator new writes is no matter of -fno-math-errno
; $ tbaa blocks FILE @f
; says: it may write errno
; never: -fno-math-errno
; says: load the value once
define i32 @f(ptr %p) {
  %a = load i32, ptr %p, !tbaa !1
  %m = call ptr @_Znam(i64 4)
  %b = load i32, ptr %p, !tbaa !1
  %s = add i32 %a, %b
  ret i32 %s
}
declare ptr @_Znam(i64) memory(errnomem: write)
!llvm.errno.tbaa = !{!1}
!1 = !{!2, !2, i64 0}
!2 = !{!"int", !3, i64 0}
!3 = !{!"omnipotent char", !4, i64 0}
!4 = !{!"Simple C/C++ TBAA"}

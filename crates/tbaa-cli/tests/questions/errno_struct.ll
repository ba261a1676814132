; Title: errno is a member of a struct of its own
; Asked: Does a call that sets errno change an `int` member under clang after June 2026?
; Source: https://github.com/llvm/llvm-project/pull/201375
; Answer: No: a member of another struct is not errno.
; $ tbaa blocks FILE @f
; says: nothing blocks a load here
define i32 @f(ptr %p) {
  %a = load i32, ptr %p, !tbaa !6
  %m = call ptr @_Znam(i64 4)
  %b = load i32, ptr %p, !tbaa !6
  %s = add i32 %a, %b
  ret i32 %s
}
declare ptr @_Znam(i64) memory(inaccessiblemem: readwrite, errnomem: write)
!llvm.errno.tbaa = !{!8}
!1 = !{!2, !2, i64 0}
!2 = !{!"int", !3, i64 0}
!3 = !{!"omnipotent char", !4, i64 0}
!4 = !{!"Simple C/C++ TBAA"}
!5 = !{!"string", !2, i64 0}
!6 = !{!5, !2, i64 0}
!7 = !{!"__libc_errno", !2, i64 0}
!8 = !{!7, !2, i64 0}

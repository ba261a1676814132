; Title: errno itself, by its own tag
; Asked: May a load of errno itself move over a call that sets it?
; Source: https://github.com/llvm/llvm-project/pull/200367
; Answer: No: its tag is the one that the module calls errno's.
; $ tbaa blocks FILE @f
; says: it may write errno
define i32 @f(ptr %p) {
  %a = load i32, ptr %p, !tbaa !8
  %m = call ptr @_Znam(i64 4)
  %b = load i32, ptr %p, !tbaa !8
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

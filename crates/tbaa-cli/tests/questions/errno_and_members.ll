; Title: an int member, and errno that is an int
; Asked: Why is the length of a string loaded again after `new`?
; Source: https://github.com/llvm/llvm-project/pull/197199
; Answer: `new` may set errno, an `int` as the length is, in LLVM 22.
; $ tbaa blocks FILE @f
; says: it may write errno
define i32 @f(ptr %p) {
  %a = load i32, ptr %p, !tbaa !6
  %m = call ptr @_Znam(i64 4)
  %b = load i32, ptr %p, !tbaa !6
  %s = add i32 %a, %b
  ret i32 %s
}
declare ptr @_Znam(i64) memory(inaccessiblemem: readwrite, errnomem: write)
!llvm.errno.tbaa = !{!1}
!1 = !{!2, !2, i64 0}
!2 = !{!"int", !3, i64 0}
!3 = !{!"omnipotent char", !4, i64 0}
!4 = !{!"Simple C/C++ TBAA"}
!5 = !{!"string", !2, i64 0}
!6 = !{!5, !2, i64 0}

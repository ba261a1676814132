; Title: a front end's loop: what to write is metadata
; $ tbaa blocks FILE @f --prove
; says: LLVM checks at run time, before the loop at %loop, because these may be the same memory
; says: give each of them an alias scope that excludes the other
; $ tbaa blocks FILE @scoped --prove
; never: same memory
target datalayout = "e-m:e-i64:64-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
define void @f(ptr %a, ptr %b, i64 %n) {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %from = getelementptr float, ptr %b, i64 %i
  %v = load float, ptr %from, !tbaa !2
  %w = fadd float %v, %v
  %to = getelementptr float, ptr %a, i64 %i
  store float %w, ptr %to, !tbaa !2
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %out, label %loop
out:
  ret void
}
define void @scoped(ptr %a, ptr %b, i64 %n) {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %from = getelementptr float, ptr %b, i64 %i
  %v = load float, ptr %from, !tbaa !2, !alias.scope !5
  %w = fadd float %v, %v
  %to = getelementptr float, ptr %a, i64 %i
  store float %w, ptr %to, !tbaa !2, !noalias !5
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %out, label %loop
out:
  ret void
}
!0 = !{!"root"}
!1 = !{!"float", !0, i64 0}
!2 = !{!1, !1, i64 0}
!3 = distinct !{!3}
!4 = distinct !{!4, !3}
!5 = !{!4}

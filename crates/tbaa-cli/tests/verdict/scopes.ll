; verdict: without !alias.scope and !noalias these accesses do not show it
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
define i32 @f(ptr %p, ptr %q) noinline {
  store i32 1, ptr %p, !alias.scope !13, !noalias !14
  store i32 2, ptr %q, !alias.scope !14, !noalias !13
  %v = load i32, ptr %p, !alias.scope !13, !noalias !14
  ret i32 %v
}
define i32 @main() {
  %a = alloca i32
  %r = call i32 @f(ptr %a, ptr %a)
  ret i32 %r
}
!0 = !{!"root"}
!1 = !{!"int", !0, i64 0}
!2 = !{!"float", !0, i64 0}
!3 = !{!1, !1, i64 0}
!4 = !{!2, !2, i64 0}
!5 = !{!"lowered feb631c80dab5a69400c6bbdd03d05f6 root 0"}
!6 = !{!"0 float", !5, i64 0}
!7 = !{!6, !6, i64 0}
!8 = !{!"1 int", !5, i64 0}
!9 = !{!8, !8, i64 0}
!10 = !{!"lowered feb631c80dab5a69400c6bbdd03d05f6 scopes"}
!11 = !{!"0 int", !10}
!12 = !{!"1 float", !10}
!13 = !{!11}
!14 = !{!12}

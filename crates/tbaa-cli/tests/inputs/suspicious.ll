; What LLVM accepts, and what lints find.
define ptr @get(ptr %slot, i64 %bits) {
  store i64 %bits, ptr %slot, align 8, !tbaa !10
  %table = load ptr, ptr %slot, align 8, !tbaa !11
  ret ptr %table
}

define i32 @count(ptr %p) {
  %v = load i32, ptr %p, align 4, !tbaa !12
  store i32 1, ptr %p, align 4, !tbaa !13
  %w = load i32, ptr %p, align 4
  ret i32 %v
}

!0 = !{!"Simple C / C++ TBAA"}
!1 = !{!"omnipotent char", !0, i64 0}
!2 = !{!"any pointer", !1, i64 0}
!3 = !{!"long long", !1, i64 0}
!4 = !{!"int", !1, i64 0}
!5 = !{!"float", !1, i64 0}
!6 = !{!"TValue", !3, i64 0, !3, i64 8}
!10 = !{!6, !3, i64 0}
!11 = !{!2, !2, i64 0}
!12 = !{!4, !4, i64 0, i64 1}
!13 = !{!4, !4, i64 0}

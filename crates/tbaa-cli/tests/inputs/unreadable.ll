define void @f(ptr %p) {
  store i32 1, ptr %p, align 4, !tbaa !0
  store i32 1, ptr %p, align 4, !tbaa !{!1, !1, 0}
  ret void
}
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"root"}
; No access uses these, and LLVM reads them all the same.
!3 = !{!99, i64 true, ptr @f, ptr @g, !{true}}
!4 = !{!"a" !"b"}

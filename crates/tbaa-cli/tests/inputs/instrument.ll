define void @f(ptr %p, ptr addrspace(3) %q) {
  store i32 0, ptr %p, align 4, !tbaa !0
  store i32 0, ptr addrspace(3) %q, align 4, !tbaa !0
  ret void
}
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"char", !3, i64 0}
!3 = !{!"my language"}

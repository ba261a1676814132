target datalayout = "e-p:32:32-p1:64:64"

%pair = type { i32, i32 }

define i32 @apart(ptr %p, ptr %q) {
  %next = getelementptr i8, ptr %p, i32 4
  %v = load i32, ptr %next, align 4, !tbaa !0
  store ptr %q, ptr %p, align 4, !tbaa !2
  %w = load i32, ptr %next, align 4, !tbaa !0
  %sum = add i32 %v, %w
  ret i32 %sum
}

define i32 @wide(ptr %p, ptr addrspace(1) %q) {
  %next = getelementptr ptr, ptr %p, i32 1
  %v = load i32, ptr %next, align 4, !tbaa !0
  store ptr addrspace(1) %q, ptr %p, align 4, !tbaa !2
  %w = load i32, ptr %next, align 4, !tbaa !0
  %sum = add i32 %v, %w
  ret i32 %sum
}

define i32 @vector(ptr %p, <2 x i32> %q) {
  %next = getelementptr %pair, ptr %p, i32 1
  %v = load i32, ptr %next, align 4, !tbaa !0
  store <2 x i32> %q, ptr %p, align 4, !tbaa !0
  %w = load i32, ptr %next, align 4, !tbaa !0
  %sum = add i32 %v, %w
  ret i32 %sum
}

!0 = !{!1, !1, i64 0}
!1 = !{!"int", !4, i64 0}
!2 = !{!4, !4, i64 0}
!4 = !{!"omnipotent char", !5, i64 0}
!5 = !{!"Simple C/C++ TBAA"}

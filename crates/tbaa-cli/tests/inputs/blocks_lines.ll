; An address computation over two lines, a block's label and a branch on others.
define i32 @two_lines(ptr %p) {
  %a = getelementptr inbounds i8, ptr %p,
    i64 4
  %b = getelementptr inbounds i8, ptr %p, i64 8
  %x = load i32, ptr %a, align 4, !tbaa !0
  store i32 1, ptr %b, align 4, !tbaa !0
  br
    label %next
next: %y = load i32, ptr %a, align 4, !tbaa !0
  %z = add i32 %x, %y
  ret i32 %z
}
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"R"}

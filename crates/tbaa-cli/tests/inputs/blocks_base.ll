; The base of an address computation is its pointer, not the name of its element type.
%S = type { i32, i32 }
define i32 @elements(i64 %i) {
  %s = alloca [4 x %S], align 4
  call void @fill(ptr %s)
  %e = getelementptr inbounds %S, ptr %s, i64 %i
  %x = load i32, ptr %s, align 4, !tbaa !0
  store i32 1, ptr %e, align 4, !tbaa !0
  %y = load i32, ptr %s, align 4, !tbaa !0
  %z = add i32 %x, %y
  ret i32 %z
}
declare void @fill(ptr)
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"R"}

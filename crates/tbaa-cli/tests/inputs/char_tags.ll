; Why clang tags an access as char, or not at all.
%struct.cell = type { i16, %union.word }
%union.word = type { i32 }
define i32 @f(ptr %c, ptr %d, ptr %s, ptr %q) {
  %u = getelementptr inbounds %struct.cell, ptr %c, i32 0, i32 1
  %member = load float, ptr %u, align 4, !tbaa !0
  %word = load i64, ptr %d, align 8, !tbaa !0
  store i64 %word, ptr %s, align 8, !tbaa !0
  %aliased = load i32, ptr %q, align 4, !tbaa !0
  %char = load i8, ptr %q, align 1, !tbaa !0
  %old = load i32, ptr %s, align 4
  %clear = and i32 %old, -8
  %new = or i32 %clear, 3
  store i32 %new, ptr %s, align 4
  %bare = load i32, ptr %s, align 4
  ret i32 %bare
}
!0 = !{!1, !1, i64 0}
!1 = !{!"omnipotent char", !2, i64 0}
!2 = !{!"Simple C/C++ TBAA"}

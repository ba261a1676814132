; union U { int i; float f; }, with the tags that the RFC wants: LLVM rejects u->i.
define i32 @rule_llvm(ptr %u, ptr %q) {
  %x = load i32, ptr %u, align 4, !tbaa !0
  store i16 1, ptr %q, align 2, !tbaa !1
  %y = load i32, ptr %u, align 4, !tbaa !0
  %z = add i32 %x, %y
  ret i32 %z
}
!0 = !{!2, !3, i64 0}
!1 = !{!5, !5, i64 0}
!2 = !{!"U", !3, i64 0, !4, i64 0}
!3 = !{!"int", !6, i64 0}
!4 = !{!"float", !6, i64 0}
!5 = !{!"short", !6, i64 0}
!6 = !{!"R"}

; Title: members of a union in the size-aware format
; Asked: `std::string` breaks with -new-struct-path-tbaa. What is wrong with its tags?
; Source: https://github.com/llvm/llvm-project/issues/55384
; Answer: LLVM follows only one member of a union.
; $ tbaa lint FILE
; says: TBAA111
; exit: 1
; $ tbaa alias FILE !0 !1 --rules union
; says: MayAlias
define void @f(ptr %p, ptr %q) {
  store double 1.0, ptr %p, !tbaa !0
  store float 1.0, ptr %q, !tbaa !1
  ret void
}
!0 = !{!2, !5, i64 0, i64 8}
!1 = !{!4, !4, i64 0, i64 4}
!2 = !{!6, i64 8, !"rep", !3, i64 0, i64 8, !5, i64 0, i64 8}
!3 = !{!6, i64 8, !"short", !4, i64 0, i64 4, !4, i64 4, i64 4}
!4 = !{!6, i64 4, !"float"}
!5 = !{!6, i64 8, !"double"}
!6 = !{!"Simple C++ TBAA"}

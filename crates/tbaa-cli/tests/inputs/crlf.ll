; LLVM 3.1: typed pointers, scalar tags, `metadata` before each node
define i32 @f(i32* %p, float* %q) nounwind {
entry:
  %0 = load i32* %p, align 4, !tbaa !0
  store float 0.000000e+00, float* %q, align 4, !tbaa !3
  ret i32 %0
}
!0 = metadata !{metadata !"int", metadata !1}
!1 = metadata !{metadata !"omnipotent char", metadata !2}
!2 = metadata !{metadata !"Simple C/C++ TBAA"}
!3 = metadata !{metadata !"float", metadata !1}

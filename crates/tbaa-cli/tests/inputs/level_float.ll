@level = external global float
@count = external global i32
@name = internal global i32 0
define float @raise(float %x) {
  store float %x, ptr @level, align 4, !tbaa !0
  ret float %x
}
!0 = !{!1, !1, i64 0}
!1 = !{!"float", !2, i64 0}
!2 = !{!"omnipotent char", !3, i64 0}
!3 = !{!"Simple C/C++ TBAA"}

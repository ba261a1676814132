; union U { int i; float f; }; struct S { union U u; int n; };
define float @f(ptr %u, ptr %s, ptr %p) {
  store float 1.0, ptr %u, align 4, !tbaa !0
  store i32 5, ptr %p, align 4, !tbaa !6 ; may be u->i
  %n = load i32, ptr %s, align 4, !tbaa !7
  %v = load <4 x i32>, ptr %p, align 16, !tbaa !6
  call void @llvm.memcpy.p0.p0.i64(ptr %s, ptr %u, i64 8, i1 false), !tbaa.struct !9
  %f = load float, ptr %u, align 4, !tbaa !0
  ret float %f
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

!llvm.errno.tbaa = !{!6}
!0 = !{!1, !5, i64 0, i64 4}
!1 = !{!2, i64 4, !"U", !4, i64 0, i64 4, !5, i64 0, i64 4}
!2 = !{!3, i64 1, !"omnipotent char"}
!3 = !{!"Simple C/C++ TBAA"}
!4 = !{!2, i64 4, !"int"}
!5 = !{!2, i64 4, !"float"}
!6 = !{!4, !4, i64 0, i64 4}
!7 = !{!8, !4, i64 4, i64 4}
!8 = !{!2, i64 8, !"S", !1, i64 0, i64 4, !4, i64 4, i64 4}
!9 = !{i64 0, i64 4, !0, i64 4, i64 4, !7}

%struct.S = type { i32, float }
define void @f(ptr %p) {
  store i32 1, ptr %p, align 4, !tbaa !0
  %q = getelementptr inbounds %struct.S, ptr %p, i32 0, i32 1
  %v = load float, ptr %q, !tbaa !{!3, !4, i64 4}
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 8, i1 false), !tbaa.struct !6
  ret void
}
!llvm.errno.tbaa = !{!0}
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"omnipotent char", !5, i64 0}
!3 = !{!"S\00", !1, i64 0, !4, i64 4}
!4 = !{!"float", !2, i64 0}
!5 = !{!"Simple C/C++ TBAA"}
!6 = !{i64 0, i64 4, !0}

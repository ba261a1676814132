; What LLVM's verifier rejects, one of each kind.
define i32 @f(ptr %p, ptr %q) {
  store i32 1, ptr %p, align 4, !tbaa !10
  store i32 2, ptr %q, align 4, !tbaa !11
  %v = load i32, ptr %p, align 4, !tbaa !10
  %q2 = getelementptr i8, ptr %q, i64 4, !tbaa !12
  store i32 %v, ptr %q2, align 4, !tbaa !5
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 8, i1 false), !tbaa.struct !13
  ret i32 %v
}

!0 = !{!"Simple C/C++ TBAA"}
!1 = !{!"omnipotent char", !0, i64 0}
!2 = !{!"int", !1, i64 0}
!3 = !{!"float", !1, i64 0}
!4 = !{!"U", !2, i64 0, !3, i64 0}
!5 = !{!"S", !2, i64 0, !2, i64 4}
!6 = !{!"T", !2, i64 4, !2, i64 0, !"int", i64 8}
!10 = !{!4, !2, i64 0}
!11 = !{!6, !2, i64 4}
!12 = !{!2, !2, i64 0}
!13 = !{i64 0, i64 8, !12, i64 4, i64 4, !12, i64 8}

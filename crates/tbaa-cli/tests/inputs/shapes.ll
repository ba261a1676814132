; struct S { int i; float f; };
define float @first(ptr %s, ptr %p, ptr %q) {
entry:
  store i32 1, ptr %s, align 4, !tbaa !2
  %f = getelementptr inbounds i8, ptr %s, i64 4
  %0 = load float, ptr %f, align 4, !tbaa !6
  store i32 2, ptr %p, align 4, !tbaa !7
  store float %0, ptr %q, align 4, !tbaa !{!8, !8, i64 0}
  %1 = load i32, ptr %s, align 4, !tbaa !2
  store i32 %1, ptr %q, align 4
  ret float %0
}

define void @"second one"(ptr %p, ptr %q) {
  store i8 0, ptr %p, align 1, !tbaa !9
  %v = atomicrmw add ptr %q, i32 1 seq_cst, !tbaa !7
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 8, i1 false), !tbaa.struct !10
  ret void
}

!llvm.module.flags = !{!0}
!0 = !{i32 1, !"wchar_size", i32 4}
!2 = !{!3, !4, i64 0}
!3 = !{!"S", !4, i64 0, !8, i64 4}
!4 = !{!"int", !5, i64 0}
!5 = !{!"omnipotent char", !11, i64 0}
!6 = !{!3, !8, i64 4}
!7 = !{!4, !4, i64 0}
!8 = !{!"float", !5, i64 0}
!9 = !{!5, !5, i64 0}
!10 = !{i64 0, i64 4, !7, i64 4, i64 4, !6}
!11 = !{!"Simple C/C++ TBAA"}
!12 = !{!3, !4, i64 0, i64 1}

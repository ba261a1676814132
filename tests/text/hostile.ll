; ModuleID = 'f.c'
source_filename = "f.c"
target datalayout = "e-m:e-i64:64"
%struct.S = type { i32, [2 x float], ptr }
@g = global [4 x i8] c"a\22;\00", align 1, !dbg !30
!llvm.errno.tbaa = !{!3}
define dso_local i32 @"odd \22name"(ptr noundef %p, { i32, i64 } %q) #0 personality ptr @h {
entry:
  %0 = load i32, ptr %p, align 4, !tbaa !3
  store volatile float 1.0e+00, ptr %p, align 4, !range !{i32 0, i32 2}, !tbaa !{!6, !8, i64 4}
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr @g, i64 16, i1 false), !tbaa.struct !10 ; copy
  %old = atomicrmw add ptr %p, i32 1 seq_cst, !tbaa !9
  switch i32 %0, label %next [ i32 0, label %next
                               i32 1, label %next ], !prof !31
next:                                             ; preds = %entry
  %2 = load i32* bitcast (i8* @x to i32*), !tbaa !20
  br label %next, !llvm.loop !32
}
define void @empty() { unreachable }
attributes #0 = { nounwind "s"="x" }
!3 = !{!4, !4, i64 0}
!4 = !{!"int", !5, i64 0}
!5 = !{!"omnipotent char", !7, i64 0}
!6 = !{!"S\00\\", !4, i64 0, !8, i64 4, !5, i64 12}
!7 = !{!"Simple C/C++ TBAA"}
!8 = !{!"float", !5, i64 0}
!9 = !{!12, !11, i64 4, i64 4, i1 true}
!10 = !{i64 0, i64 4, !3, i64 4, i64 8, !{!8, !8, i64 0}}
!11 = !{!13, i64 4, !"int"}
!12 = !{!13, i64 8, !"T", !11, i64 0, i64 4, !11, i64 4, i64 -1}
!13 = distinct !{!13}
!20 = metadata !{metadata !"old scalar", metadata !21}
!21 = metadata !{metadata !"old root", null}
!30 = !DIGlobalVariable(name: "g}", scope: !33)
!31 = !{!"branch_weights", i32 1, i32 u0xFF}
!32 = distinct !{!32, !34, ptr @g}
!33 = distinct !DICompileUnit(language: DW_LANG_C11)
!34 = !{!"llvm.loop.mustprogress"}

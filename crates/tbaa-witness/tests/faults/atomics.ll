; An atomic addition to an int, read as a float.
source_filename = "atomics.ll"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

declare ptr @calloc(i64, i64)

define i32 @main() !dbg !95 {
  %array = call ptr @calloc(i64 1, i64 32), !dbg !98
  %old = atomicrmw add ptr %array, i32 3 seq_cst, align 4, !tbaa !10, !dbg !96 ; first
  %other = getelementptr i8, ptr %array, i64 16, !dbg !98
  %again = cmpxchg ptr %other, i32 3, i32 4 seq_cst seq_cst, align 4, !tbaa !10, !dbg !98
  %next = getelementptr i8, ptr %array, i64 4, !dbg !98
  store i32 1, ptr %next, align 4, !dbg !98
  %fine = load float, ptr %next, align 4, !tbaa !11, !dbg !98
  %read = load atomic float, ptr %array seq_cst, align 4, !tbaa !11, !dbg !97 ; second
  ret i32 0, !dbg !98
}

!0 = !{!"Simple C/C++ TBAA"}
!1 = !{!"omnipotent char", !0, i64 0}
!2 = !{!"int", !1, i64 0}
!3 = !{!"float", !1, i64 0}
!10 = !{!2, !2, i64 0}
!11 = !{!3, !3, i64 0}

!llvm.dbg.cu = !{!90}
!llvm.module.flags = !{!91}
!90 = distinct !DICompileUnit(language: DW_LANG_C99, file: !92, emissionKind: FullDebug)
!91 = !{i32 2, !"Debug Info Version", i32 3}
!92 = !DIFile(filename: "atomics.ll", directory: "")
!93 = !DISubroutineType(types: !94)
!94 = !{null}
!95 = distinct !DISubprogram(name: "main", file: !92, line: 1, type: !93, unit: !90, spFlags: DISPFlagDefinition)
!96 = !DILocation(line: 10, column: 3, scope: !95)
!97 = !DILocation(line: 16, column: 3, scope: !95)
!98 = !DILocation(line: 1, column: 1, scope: !95)

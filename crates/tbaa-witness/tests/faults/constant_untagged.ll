; The same, set by a store without a tag.
source_filename = "constant_untagged.ll"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

declare ptr @calloc(i64, i64)

define i32 @main() !dbg !95 {
  %object = call ptr @calloc(i64 1, i64 32), !dbg !98
  %field = getelementptr i8, ptr %object, i64 8, !dbg !98
  store i64 3, ptr %field, align 8, !dbg !98
  %read = load i64, ptr %field, align 8, !tbaa !10, !dbg !96 ; first
  store i64 4, ptr %field, align 8, !dbg !97 ; second
  %again = load i64, ptr %field, align 8, !tbaa !10, !dbg !98
  ret i32 0, !dbg !98
}

!0 = !{!"my jit"}
!1 = !{!"value", !0, i64 0}
!2 = !{!"other", !0, i64 0}
!10 = !{!1, !1, i64 0, i64 1}
!11 = !{!1, !1, i64 0}
!12 = !{!2, !2, i64 0}

!llvm.dbg.cu = !{!90}
!llvm.module.flags = !{!91}
!90 = distinct !DICompileUnit(language: DW_LANG_C99, file: !92, emissionKind: FullDebug)
!91 = !{i32 2, !"Debug Info Version", i32 3}
!92 = !DIFile(filename: "constant_untagged.ll", directory: "")
!93 = !DISubroutineType(types: !94)
!94 = !{null}
!95 = distinct !DISubprogram(name: "main", file: !92, line: 1, type: !93, unit: !90, spFlags: DISPFlagDefinition)
!96 = !DILocation(line: 12, column: 3, scope: !95)
!97 = !DILocation(line: 13, column: 3, scope: !95)
!98 = !DILocation(line: 1, column: 1, scope: !95)

; Ravi's union in TValue: the word is copied by one tag and read by another.
source_filename = "ravi.ll"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

declare ptr @malloc(i64)

define i32 @main() !dbg !95 {
  %from = call ptr @malloc(i64 16), !dbg !98
  %to = call ptr @malloc(i64 16), !dbg !98
  store i64 7, ptr %from, align 8, !dbg !98
  %word = load i64, ptr %from, align 8, !tbaa !10, !dbg !98
  store i64 %word, ptr %to, align 8, !tbaa !10, !dbg !96 ; first
  %pointer = load ptr, ptr %to, align 8, !tbaa !11, !dbg !97 ; second
  ret i32 0, !dbg !98
}

!0 = !{!"Ravi TBAA"}
!1 = !{!"char", !0, i64 0}
!2 = !{!"double", !1, i64 0}
!3 = !{!"any pointer", !1, i64 0}
!4 = !{!"int", !1, i64 0}
!5 = !{!"TValue_n", !2, i64 0, !4, i64 8}
!6 = !{!"TValue_h", !3, i64 0, !4, i64 8}
!10 = !{!5, !2, i64 0}
!11 = !{!6, !3, i64 0}

!llvm.dbg.cu = !{!90}
!llvm.module.flags = !{!91}
!90 = distinct !DICompileUnit(language: DW_LANG_C99, file: !92, emissionKind: FullDebug)
!91 = !{i32 2, !"Debug Info Version", i32 3}
!92 = !DIFile(filename: "ravi.ll", directory: "")
!93 = !DISubroutineType(types: !94)
!94 = !{null}
!95 = distinct !DISubprogram(name: "main", file: !92, line: 1, type: !93, unit: !90, spFlags: DISPFlagDefinition)
!96 = !DILocation(line: 13, column: 3, scope: !95)
!97 = !DILocation(line: 14, column: 3, scope: !95)
!98 = !DILocation(line: 1, column: 1, scope: !95)

; Two lanes of four are written, and one of them read as a float; the lanes that
; are not may be read as anything.
source_filename = "masked.ll"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

declare ptr @calloc(i64, i64)
declare void @llvm.masked.store.v4i32.p0(<4 x i32>, ptr, i32, <4 x i1>)
declare <2 x float> @llvm.masked.gather.v2f32.v2p0(<2 x ptr>, i32, <2 x i1>, <2 x float>)

define i32 @main() !dbg !95 {
  %p = call ptr @calloc(i64 1, i64 32), !dbg !98
  call void @llvm.masked.store.v4i32.p0(<4 x i32> zeroinitializer, ptr %p, i32 4, <4 x i1> <i1 false, i1 true, i1 false, i1 true>), !tbaa !10, !dbg !96 ; first
  %free = load float, ptr %p, align 4, !tbaa !11, !dbg !98
  %one = getelementptr i8, ptr %p, i64 4, !dbg !98
  %three = getelementptr i8, ptr %p, i64 12, !dbg !98
  %a = insertelement <2 x ptr> poison, ptr %one, i64 0, !dbg !98
  %b = insertelement <2 x ptr> %a, ptr %three, i64 1, !dbg !98
  %read = call <2 x float> @llvm.masked.gather.v2f32.v2p0(<2 x ptr> %b, i32 4, <2 x i1> <i1 false, i1 true>, <2 x float> zeroinitializer), !tbaa !11, !dbg !97 ; second
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
!92 = !DIFile(filename: "masked.ll", directory: "")
!93 = !DISubroutineType(types: !94)
!94 = !{null}
!95 = distinct !DISubprogram(name: "main", file: !92, line: 1, type: !93, unit: !90, spFlags: DISPFlagDefinition)
!96 = !DILocation(line: 13, column: 3, scope: !95)
!97 = !DILocation(line: 19, column: 3, scope: !95)
!98 = !DILocation(line: 1, column: 1, scope: !95)

; ModuleID = 'anon.c'
source_filename = "anon.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite) uwtable
define dso_local i64 @total(ptr noundef captures(none) initializes((16, 20)) %b, ptr noundef readonly captures(none) %h) local_unnamed_addr #0 !dbg !14 {
entry:
    #dbg_value(ptr %b, !34, !DIExpression(), !36)
    #dbg_value(ptr %h, !35, !DIExpression(), !36)
  %0 = load i32, ptr %h, align 8, !dbg !37, !tbaa !38
  %last = getelementptr inbounds nuw i8, ptr %b, i64 16, !dbg !41
  store i32 %0, ptr %last, align 8, !dbg !42, !tbaa !43
  %size = getelementptr inbounds nuw i8, ptr %b, i64 24, !dbg !47
  %1 = load i64, ptr %size, align 8, !dbg !47, !tbaa !48
  %size3 = getelementptr inbounds nuw i8, ptr %h, i64 8, !dbg !49
  %2 = load i64, ptr %size3, align 8, !dbg !49, !tbaa !50
  %add = add nsw i64 %2, %1, !dbg !51
  ret i64 %add, !dbg !52
}

attributes #0 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite) uwtable "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5, !6, !7, !8}
!llvm.errno.tbaa = !{!10}

!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, producer: "clang version 22", isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "anon.c", directory: "/src", checksumkind: CSK_MD5, checksum: "deef17ebb47fce9353d6d62978201cdd")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 8, !"PIC Level", i32 2}
!6 = !{i32 7, !"PIE Level", i32 2}
!7 = !{i32 7, !"uwtable", i32 2}
!8 = !{i32 7, !"debug-info-assignment-tracking", i1 true}
!9 = !{!"clang version 22"}
!10 = !{!11, !11, i64 0}
!11 = !{!"int", !12, i64 0}
!12 = !{!"omnipotent char", !13, i64 0}
!13 = !{!"Simple C/C++ TBAA"}
!14 = distinct !DISubprogram(name: "total", scope: !1, file: !1, line: 3, type: !15, scopeLine: 3, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !33, keyInstructions: true)
!15 = !DISubroutineType(types: !16)
!16 = !{!17, !18, !32}
!17 = !DIBasicType(name: "long", size: 64, encoding: DW_ATE_signed)
!18 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !19, size: 64)
!19 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "body", file: !1, line: 2, size: 320, elements: !20)
!20 = !{!21, !28, !29}
!21 = !DIDerivedType(tag: DW_TAG_member, name: "first", scope: !19, file: !1, line: 2, baseType: !22, size: 128)
!22 = !DIDerivedType(tag: DW_TAG_typedef, name: "head", file: !1, line: 1, baseType: !23)
!23 = distinct !DICompositeType(tag: DW_TAG_structure_type, file: !1, line: 1, size: 128, elements: !24)
!24 = !{!25, !27}
!25 = !DIDerivedType(tag: DW_TAG_member, name: "kind", scope: !23, file: !1, line: 1, baseType: !26, size: 32)
!26 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!27 = !DIDerivedType(tag: DW_TAG_member, name: "size", scope: !23, file: !1, line: 1, baseType: !17, size: 64, offset: 64)
!28 = !DIDerivedType(tag: DW_TAG_member, name: "last", scope: !19, file: !1, line: 2, baseType: !22, size: 128, offset: 128)
!29 = !DIDerivedType(tag: DW_TAG_member, name: "text", scope: !19, file: !1, line: 2, baseType: !30, size: 64, offset: 256)
!30 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !31, size: 64)
!31 = !DIBasicType(name: "char", size: 8, encoding: DW_ATE_signed_char)
!32 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !22, size: 64)
!33 = !{!34, !35}
!34 = !DILocalVariable(name: "b", arg: 1, scope: !14, file: !1, line: 3, type: !18)
!35 = !DILocalVariable(name: "h", arg: 2, scope: !14, file: !1, line: 3, type: !32)
!36 = !DILocation(line: 0, scope: !14)
!37 = !DILocation(line: 3, column: 57, scope: !14, atomGroup: 1, atomRank: 2)
!38 = !{!39, !11, i64 0}
!39 = !{!"", !11, i64 0, !40, i64 8}
!40 = !{!"long", !12, i64 0}
!41 = !DILocation(line: 3, column: 42, scope: !14)
!42 = !DILocation(line: 3, column: 52, scope: !14, atomGroup: 1, atomRank: 1)
!43 = !{!44, !11, i64 16}
!44 = !{!"body", !39, i64 0, !39, i64 16, !45, i64 32}
!45 = !{!"p1 omnipotent char", !46, i64 0}
!46 = !{!"any pointer", !12, i64 0}
!47 = !DILocation(line: 3, column: 78, scope: !14)
!48 = !{!44, !40, i64 24}
!49 = !DILocation(line: 3, column: 88, scope: !14)
!50 = !{!39, !40, i64 8}
!51 = !DILocation(line: 3, column: 83, scope: !14, atomGroup: 2, atomRank: 2)
!52 = !DILocation(line: 3, column: 63, scope: !14, atomGroup: 2, atomRank: 1)

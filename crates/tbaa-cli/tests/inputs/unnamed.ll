; ModuleID = '/src/anon.c'
source_filename = "anon.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: read) uwtable
define dso_local float @get(ptr noundef readonly captures(none) %0) local_unnamed_addr #0 !dbg !14 {
    #dbg_value(ptr %0, !27, !DIExpression(), !28)
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 4, !dbg !29
  %3 = load float, ptr %2, align 4, !dbg !30, !tbaa !31
  ret float %3, !dbg !34
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: read) uwtable
define dso_local i64 @tri(ptr noundef readonly captures(none) %0) local_unnamed_addr #0 !dbg !35 {
    #dbg_value(ptr %0, !47, !DIExpression(), !48)
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8, !dbg !49
  %3 = load i64, ptr %2, align 8, !dbg !49, !tbaa !50
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 4, !dbg !53
  %5 = load i32, ptr %4, align 4, !dbg !53, !tbaa !54
  %6 = sext i32 %5 to i64, !dbg !55
  %7 = add nsw i64 %3, %6, !dbg !56
  ret i64 %7, !dbg !57
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: read) uwtable
define dso_local i32 @tag(ptr noundef readonly captures(none) %0) local_unnamed_addr #0 !dbg !58 {
    #dbg_value(ptr %0, !73, !DIExpression(), !74)
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 4, !dbg !75
  %3 = load i32, ptr %2, align 4, !dbg !75, !tbaa !76
  %4 = load i32, ptr %0, align 4, !dbg !78, !tbaa !79
  %5 = add nsw i32 %4, %3, !dbg !80
  ret i32 %5, !dbg !81
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: read) uwtable
define dso_local float @hold(ptr noundef readonly captures(none) %0) local_unnamed_addr #0 !dbg !82 {
    #dbg_value(ptr %0, !97, !DIExpression(), !98)
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 4, !dbg !99
  %3 = load float, ptr %2, align 4, !dbg !99, !tbaa !100
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 28, !dbg !104
  %5 = load float, ptr %4, align 4, !dbg !104, !tbaa !105
  %6 = fadd float %3, %5, !dbg !106
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 16, !dbg !107
  %8 = load i64, ptr %7, align 8, !dbg !107, !tbaa !108
  %9 = sitofp i64 %8 to float, !dbg !109
  %10 = fadd float %6, %9, !dbg !110
  ret float %10, !dbg !111
}

attributes #0 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: read) uwtable "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5, !6, !7, !8}
!llvm.ident = !{!9}
!llvm.errno.tbaa = !{!10}

!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, producer: "Debian clang version 22.1.8 (1~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "/src/anon.c", directory: "/src", checksumkind: CSK_MD5, checksum: "459b80ff9016cd6d3607f8305e121a83")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 8, !"PIC Level", i32 2}
!6 = !{i32 7, !"PIE Level", i32 2}
!7 = !{i32 7, !"uwtable", i32 2}
!8 = !{i32 7, !"debug-info-assignment-tracking", i1 true}
!9 = !{!"Debian clang version 22.1.8 (1~deb12u1)"}
!10 = !{!11, !11, i64 0}
!11 = !{!"int", !12, i64 0}
!12 = !{!"omnipotent char", !13, i64 0}
!13 = !{!"Simple C/C++ TBAA"}
!14 = distinct !DISubprogram(name: "get", scope: !15, file: !15, line: 6, type: !16, scopeLine: 6, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !26, keyInstructions: true)
!15 = !DIFile(filename: "/src/anon.c", directory: "", checksumkind: CSK_MD5, checksum: "459b80ff9016cd6d3607f8305e121a83")
!16 = !DISubroutineType(types: !17)
!17 = !{!18, !19}
!18 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!19 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !20, size: 64)
!20 = !DIDerivedType(tag: DW_TAG_typedef, name: "pair", file: !15, line: 1, baseType: !21)
!21 = distinct !DICompositeType(tag: DW_TAG_structure_type, file: !15, line: 1, size: 64, elements: !22)
!22 = !{!23, !25}
!23 = !DIDerivedType(tag: DW_TAG_member, name: "a", scope: !21, file: !15, line: 1, baseType: !24, size: 32)
!24 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!25 = !DIDerivedType(tag: DW_TAG_member, name: "b", scope: !21, file: !15, line: 1, baseType: !18, size: 32, offset: 32)
!26 = !{!27}
!27 = !DILocalVariable(name: "p", arg: 1, scope: !14, file: !15, line: 6, type: !19)
!28 = !DILocation(line: 0, scope: !14)
!29 = !DILocation(line: 6, column: 32, scope: !14)
!30 = !DILocation(line: 6, column: 32, scope: !14, atomGroup: 1, atomRank: 2)
!31 = !{!32, !33, i64 4}
!32 = !{!"", !11, i64 0, !33, i64 4}
!33 = !{!"float", !12, i64 0}
!34 = !DILocation(line: 6, column: 22, scope: !14, atomGroup: 1, atomRank: 1)
!35 = distinct !DISubprogram(name: "tri", scope: !15, file: !15, line: 7, type: !36, scopeLine: 7, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !46, keyInstructions: true)
!36 = !DISubroutineType(types: !37)
!37 = !{!38, !39}
!38 = !DIBasicType(name: "long", size: 64, encoding: DW_ATE_signed)
!39 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !40, size: 64)
!40 = !DIDerivedType(tag: DW_TAG_typedef, name: "triple", file: !15, line: 2, baseType: !41)
!41 = distinct !DICompositeType(tag: DW_TAG_structure_type, file: !15, line: 2, size: 128, elements: !42)
!42 = !{!43, !44, !45}
!43 = !DIDerivedType(tag: DW_TAG_member, name: "a", scope: !41, file: !15, line: 2, baseType: !24, size: 32)
!44 = !DIDerivedType(tag: DW_TAG_member, name: "b", scope: !41, file: !15, line: 2, baseType: !24, size: 32, offset: 32)
!45 = !DIDerivedType(tag: DW_TAG_member, name: "c", scope: !41, file: !15, line: 2, baseType: !38, size: 64, offset: 64)
!46 = !{!47}
!47 = !DILocalVariable(name: "t", arg: 1, scope: !35, file: !15, line: 7, type: !39)
!48 = !DILocation(line: 0, scope: !35)
!49 = !DILocation(line: 7, column: 33, scope: !35)
!50 = !{!51, !52, i64 8}
!51 = !{!"", !11, i64 0, !11, i64 4, !52, i64 8}
!52 = !{!"long", !12, i64 0}
!53 = !DILocation(line: 7, column: 40, scope: !35)
!54 = !{!51, !11, i64 4}
!55 = !DILocation(line: 7, column: 37, scope: !35)
!56 = !DILocation(line: 7, column: 35, scope: !35, atomGroup: 1, atomRank: 2)
!57 = !DILocation(line: 7, column: 23, scope: !35, atomGroup: 1, atomRank: 1)
!58 = distinct !DISubprogram(name: "tag", scope: !15, file: !15, line: 8, type: !59, scopeLine: 8, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !72, keyInstructions: true)
!59 = !DISubroutineType(types: !60)
!60 = !{!24, !61}
!61 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !62, size: 64)
!62 = !DIDerivedType(tag: DW_TAG_typedef, name: "value", file: !15, line: 4, baseType: !63)
!63 = distinct !DICompositeType(tag: DW_TAG_structure_type, file: !15, line: 4, size: 64, elements: !64)
!64 = !{!65, !71}
!65 = !DIDerivedType(tag: DW_TAG_member, name: "n", scope: !63, file: !15, line: 4, baseType: !66, size: 32)
!66 = !DIDerivedType(tag: DW_TAG_typedef, name: "num", file: !15, line: 3, baseType: !67)
!67 = distinct !DICompositeType(tag: DW_TAG_union_type, file: !15, line: 3, size: 32, elements: !68)
!68 = !{!69, !70}
!69 = !DIDerivedType(tag: DW_TAG_member, name: "i", scope: !67, file: !15, line: 3, baseType: !24, size: 32)
!70 = !DIDerivedType(tag: DW_TAG_member, name: "f", scope: !67, file: !15, line: 3, baseType: !18, size: 32)
!71 = !DIDerivedType(tag: DW_TAG_member, name: "tag", scope: !63, file: !15, line: 4, baseType: !24, size: 32, offset: 32)
!72 = !{!73}
!73 = !DILocalVariable(name: "v", arg: 1, scope: !58, file: !15, line: 8, type: !61)
!74 = !DILocation(line: 0, scope: !58)
!75 = !DILocation(line: 8, column: 31, scope: !58)
!76 = !{!77, !11, i64 4}
!77 = !{!"", !12, i64 0, !11, i64 4}
!78 = !DILocation(line: 8, column: 42, scope: !58)
!79 = !{!12, !12, i64 0}
!80 = !DILocation(line: 8, column: 35, scope: !58, atomGroup: 1, atomRank: 2)
!81 = !DILocation(line: 8, column: 21, scope: !58, atomGroup: 1, atomRank: 1)
!82 = distinct !DISubprogram(name: "hold", scope: !15, file: !15, line: 9, type: !83, scopeLine: 9, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !96, keyInstructions: true)
!83 = !DISubroutineType(types: !84)
!84 = !{!18, !85}
!85 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !86, size: 64)
!86 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "holder", file: !15, line: 5, size: 256, elements: !87)
!87 = !{!88, !89, !90}
!88 = !DIDerivedType(tag: DW_TAG_member, name: "p", scope: !86, file: !15, line: 5, baseType: !20, size: 64)
!89 = !DIDerivedType(tag: DW_TAG_member, name: "t", scope: !86, file: !15, line: 5, baseType: !40, size: 128, offset: 64)
!90 = !DIDerivedType(tag: DW_TAG_member, name: "in", scope: !86, file: !15, line: 5, baseType: !91, size: 64, offset: 192)
!91 = distinct !DICompositeType(tag: DW_TAG_structure_type, scope: !86, file: !15, line: 5, size: 64, elements: !92)
!92 = !{!93, !95}
!93 = !DIDerivedType(tag: DW_TAG_member, name: "x", scope: !91, file: !15, line: 5, baseType: !94, size: 16)
!94 = !DIBasicType(name: "short", size: 16, encoding: DW_ATE_signed)
!95 = !DIDerivedType(tag: DW_TAG_member, name: "y", scope: !91, file: !15, line: 5, baseType: !18, size: 32, offset: 32)
!96 = !{!97}
!97 = !DILocalVariable(name: "h", arg: 1, scope: !82, file: !15, line: 9, type: !85)
!98 = !DILocation(line: 0, scope: !82)
!99 = !DILocation(line: 9, column: 44, scope: !82)
!100 = !{!101, !33, i64 4}
!101 = !{!"holder", !32, i64 0, !51, i64 8, !102, i64 24}
!102 = !{!"", !103, i64 0, !33, i64 4}
!103 = !{!"short", !12, i64 0}
!104 = !DILocation(line: 9, column: 54, scope: !82)
!105 = !{!101, !33, i64 28}
!106 = !DILocation(line: 9, column: 46, scope: !82)
!107 = !DILocation(line: 9, column: 63, scope: !82)
!108 = !{!101, !52, i64 16}
!109 = !DILocation(line: 9, column: 58, scope: !82)
!110 = !DILocation(line: 9, column: 56, scope: !82, atomGroup: 1, atomRank: 2)
!111 = !DILocation(line: 9, column: 32, scope: !82, atomGroup: 1, atomRank: 1)

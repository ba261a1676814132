; ModuleID = 'fill.c'
source_filename = "fill.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; Function Attrs: nofree norecurse nosync nounwind memory(write, argmem: readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) uwtable
define dso_local void @fill(ptr noundef readonly captures(none) %0, i64 noundef %1) local_unnamed_addr #0 !dbg !14 {
    #dbg_value(ptr %0, !26, !DIExpression(), !30)
    #dbg_value(i64 %1, !27, !DIExpression(), !30)
    #dbg_value(i64 0, !28, !DIExpression(), !31)
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 8
    #dbg_value(i64 0, !28, !DIExpression(), !31)
  %4 = load i64, ptr %3, align 8, !dbg !32, !tbaa !34
  %5 = icmp sgt i64 %4, 0, !dbg !39
  br i1 %5, label %6, label %8, !dbg !40

6:                                                ; preds = %2
  %7 = load ptr, ptr %0, align 8, !tbaa !41
  br label %9, !dbg !40

8:                                                ; preds = %9, %2
  ret void, !dbg !42

9:                                                ; preds = %6, %9
  %10 = phi i64 [ 0, %6 ], [ %12, %9 ]
    #dbg_value(i64 %10, !28, !DIExpression(), !31)
  %11 = getelementptr inbounds nuw i64, ptr %7, i64 %10, !dbg !43
  store i64 %1, ptr %11, align 8, !dbg !44, !tbaa !45
  %12 = add nuw nsw i64 %10, 1, !dbg !46
    #dbg_value(i64 %12, !28, !DIExpression(), !31)
  %13 = load i64, ptr %3, align 8, !dbg !32, !tbaa !34
  %14 = icmp slt i64 %12, %13, !dbg !47
  br i1 %14, label %9, label %8, !dbg !48, !llvm.loop !49
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite) uwtable
define dso_local range(i32 -65536, 65535) i32 @twice(ptr noundef captures(none) initializes((4, 8)) %0, ptr noundef readonly captures(none) %1) local_unnamed_addr #1 !dbg !54 {
    #dbg_value(ptr %0, !71, !DIExpression(), !74)
    #dbg_value(ptr %1, !72, !DIExpression(), !74)
  %3 = load i16, ptr %0, align 4, !dbg !75, !tbaa !76
  %4 = sext i16 %3 to i64, !dbg !79
  %5 = getelementptr inbounds i16, ptr %1, i64 %4, !dbg !79
  %6 = load i16, ptr %5, align 2, !dbg !80, !tbaa !81
  %7 = sext i16 %6 to i32, !dbg !82
    #dbg_value(i32 %7, !73, !DIExpression(), !74)
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 4, !dbg !83
  store float 1.000000e+00, ptr %8, align 4, !dbg !84, !tbaa !85
  %9 = load i16, ptr %5, align 2, !dbg !86, !tbaa !81
  %10 = sext i16 %9 to i32, !dbg !86
  %11 = add nsw i32 %10, %7, !dbg !87
  ret i32 %11, !dbg !88
}

attributes #0 = { nofree norecurse nosync nounwind memory(write, argmem: readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) uwtable "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite) uwtable "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5, !6, !7, !8}
!llvm.ident = !{!9}
!llvm.errno.tbaa = !{!10}

!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, producer: "clang version 22", isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "fill.c", directory: "/src", checksumkind: CSK_MD5, checksum: "20992e6687a0c254cd1d1af64602533e")
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
!14 = distinct !DISubprogram(name: "fill", scope: !1, file: !1, line: 4, type: !15, scopeLine: 4, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !25, keyInstructions: true)
!15 = !DISubroutineType(types: !16)
!16 = !{null, !17, !22}
!17 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !18, size: 64)
!18 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "vec", file: !1, line: 1, size: 192, elements: !19)
!19 = !{!20, !23, !24}
!20 = !DIDerivedType(tag: DW_TAG_member, name: "data", scope: !18, file: !1, line: 1, baseType: !21, size: 64)
!21 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !22, size: 64)
!22 = !DIBasicType(name: "long", size: 64, encoding: DW_ATE_signed)
!23 = !DIDerivedType(tag: DW_TAG_member, name: "len", scope: !18, file: !1, line: 1, baseType: !22, size: 64, offset: 64)
!24 = !DIDerivedType(tag: DW_TAG_member, name: "cap", scope: !18, file: !1, line: 1, baseType: !22, size: 64, offset: 128)
!25 = !{!26, !27, !28}
!26 = !DILocalVariable(name: "v", arg: 1, scope: !14, file: !1, line: 4, type: !17)
!27 = !DILocalVariable(name: "x", arg: 2, scope: !14, file: !1, line: 4, type: !22)
!28 = !DILocalVariable(name: "i", scope: !29, file: !1, line: 5, type: !22)
!29 = distinct !DILexicalBlock(scope: !14, file: !1, line: 5, column: 3)
!30 = !DILocation(line: 0, scope: !14)
!31 = !DILocation(line: 0, scope: !29)
!32 = !DILocation(line: 5, column: 27, scope: !33)
!33 = distinct !DILexicalBlock(scope: !29, file: !1, line: 5, column: 3)
!34 = !{!35, !38, i64 8}
!35 = !{!"vec", !36, i64 0, !38, i64 8, !38, i64 16}
!36 = !{!"p1 long", !37, i64 0}
!37 = !{!"any pointer", !12, i64 0}
!38 = !{!"long", !12, i64 0}
!39 = !DILocation(line: 5, column: 22, scope: !33, atomGroup: 8, atomRank: 1)
!40 = !DILocation(line: 5, column: 3, scope: !29, atomGroup: 9, atomRank: 1)
!41 = !{!35, !36, i64 0}
!42 = !DILocation(line: 7, column: 1, scope: !14, atomGroup: 7, atomRank: 1)
!43 = !DILocation(line: 6, column: 5, scope: !33)
!44 = !DILocation(line: 6, column: 16, scope: !33, atomGroup: 4, atomRank: 1)
!45 = !{!38, !38, i64 0}
!46 = !DILocation(line: 5, column: 33, scope: !33, atomGroup: 5, atomRank: 2)
!47 = !DILocation(line: 5, column: 22, scope: !33, atomGroup: 2, atomRank: 1)
!48 = !DILocation(line: 5, column: 3, scope: !29, atomGroup: 3, atomRank: 1)
!49 = distinct !{!49, !50, !51, !52, !53}
!50 = !DILocation(line: 5, column: 3, scope: !29)
!51 = !DILocation(line: 6, column: 18, scope: !29)
!52 = !{!"llvm.loop.mustprogress"}
!53 = !{!"llvm.loop.unroll.disable"}
!54 = distinct !DISubprogram(name: "twice", scope: !1, file: !1, line: 13, type: !55, scopeLine: 13, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !70, keyInstructions: true)
!55 = !DISubroutineType(types: !56)
!56 = !{!57, !58, !69}
!57 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!58 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !59, size: 64)
!59 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "cell", file: !1, line: 10, size: 64, elements: !60)
!60 = !{!61, !63}
!61 = !DIDerivedType(tag: DW_TAG_member, name: "tag", scope: !59, file: !1, line: 10, baseType: !62, size: 16)
!62 = !DIBasicType(name: "short", size: 16, encoding: DW_ATE_signed)
!63 = !DIDerivedType(tag: DW_TAG_member, name: "u", scope: !59, file: !1, line: 10, baseType: !64, size: 32, offset: 32)
!64 = distinct !DICompositeType(tag: DW_TAG_union_type, name: "word", file: !1, line: 9, size: 32, elements: !65)
!65 = !{!66, !67}
!66 = !DIDerivedType(tag: DW_TAG_member, name: "i", scope: !64, file: !1, line: 9, baseType: !57, size: 32)
!67 = !DIDerivedType(tag: DW_TAG_member, name: "f", scope: !64, file: !1, line: 9, baseType: !68, size: 32)
!68 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!69 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !62, size: 64)
!70 = !{!71, !72, !73}
!71 = !DILocalVariable(name: "c", arg: 1, scope: !54, file: !1, line: 13, type: !58)
!72 = !DILocalVariable(name: "kinds", arg: 2, scope: !54, file: !1, line: 13, type: !69)
!73 = !DILocalVariable(name: "first", scope: !54, file: !1, line: 14, type: !57)
!74 = !DILocation(line: 0, scope: !54)
!75 = !DILocation(line: 14, column: 24, scope: !54)
!76 = !{!77, !78, i64 0}
!77 = !{!"cell", !78, i64 0, !12, i64 4}
!78 = !{!"short", !12, i64 0}
!79 = !DILocation(line: 14, column: 15, scope: !54)
!80 = !DILocation(line: 14, column: 15, scope: !54, atomGroup: 1, atomRank: 3)
!81 = !{!78, !78, i64 0}
!82 = !DILocation(line: 14, column: 15, scope: !54, atomGroup: 1, atomRank: 2)
!83 = !DILocation(line: 15, column: 6, scope: !54)
!84 = !DILocation(line: 15, column: 10, scope: !54, atomGroup: 2, atomRank: 1)
!85 = !{!12, !12, i64 0}
!86 = !DILocation(line: 16, column: 18, scope: !54)
!87 = !DILocation(line: 16, column: 16, scope: !54, atomGroup: 4, atomRank: 2)
!88 = !DILocation(line: 16, column: 3, scope: !54, atomGroup: 4, atomRank: 1)

target datalayout = "e-m:e-i64:64"
target triple = "x86_64-pc-linux-gnu"
%struct.S = type { i32, [2 x float], ptr }
@g = global [4 x i8] c"a\22;\00", align 1, !dbg !31
declare void @"odd \22name"(ptr noundef "k"="v", ...) #1
define i64 @f(ptr noundef align 8 %0, ptr byval(%struct.S) %s) #0 personality ptr @h !dbg !30 {
entry:
  %a = alloca %struct.S, align 8
  %n = alloca i8, i64 %c, align 8
  call void @llvm.lifetime.start.p0(i64 24, ptr %a) #2
  %1 = load i32, ptr %0, align 4, !tbaa !0, !dbg !32
  call void @g(ptr %0, i32 signext %1) [ "deopt"(i32 1, ptr %0) ], !dbg !32
  %2 = call i32 (ptr, ...) @"odd \22name"(ptr sret(%struct.S) align 8 %a, i32 1) #1
  call void asm sideeffect "nop # $0", "=*m,r,~{memory}"(ptr elementtype(i32) %a, ptr %0)
  %3 = call ptr %f(ptr getelementptr inbounds (i8, ptr @g, i64 2), metadata !"x", i32 -1)
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %a, ptr align 4 %0, i64 24, i1 false), !tbaa.struct !5
  call void @llvm.masked.store.v4i32.p0(<4 x i32> %v, ptr %0, i32 4, <4 x i1> %m), !tbaa !0
  %4 = call i32 (ptr, ptr, ...) @sprintf(ptr %0, ptr @g, i32 %1)
  %5 = invoke ptr @malloc(i64 8) to label %ok unwind label %bad
ok:
  store i64 0, ptr %5, align 8, !tbaa !{!1, !1, i64 0}
  switch i32 %1, label %end [ i32 0, label %end
                              i32 1, label %ok ]
bad:
  %6 = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %6
end:
  %7 = musttail call i64 @f(ptr %0, ptr byval(%struct.S) %s)
  ret i64 %7
}
define void @x(ptr %p) { store ptr null, ptr %p, !tbaa !0
  ret void }
attributes #0 = { nounwind memory(argmem: read) "s"="x" }
attributes #1 = { readonly }
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"char", !3, i64 0}
!3 = !{!"Simple C/C++ TBAA"}
!5 = !{i64 0, i64 4, !0, i64 4, i64 8, !0}
!30 = distinct !DISubprogram(name: "f", line: 1, unit: !33)
!31 = !DIGlobalVariable(name: "g}", scope: !33)
!32 = !DILocation(line: 2, column: 3, scope: !30)
!33 = distinct !DICompileUnit(language: DW_LANG_C11)

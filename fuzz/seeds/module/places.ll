source_filename = "crates/tbaa-tag/tests/attacks/tagged_union.ll"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%Shape = type <{ i8, [15 x i8] }>
%Circle = type <{ i8, double }>

@format = private constant [7 x i8] c"%d %g\0A\00"

declare i32 @printf(ptr, ...)

; Function Attrs: noinline
define internal double @f(ptr %new, ptr %old) #0 {
  %tag = getelementptr <{ i8, double }>, ptr %new, i32 0, i32 0
  store i8 1, ptr %tag, align 1
  %r = getelementptr <{ i8, double }>, ptr %new, i32 0, i32 1
  store double 1.500000e+00, ptr %r, align 8
  %is = getelementptr %Shape, ptr %old, i32 0, i32 0
  store i8 2, ptr %is, align 1
  %circle = getelementptr %Circle, ptr %old, i32 0, i32 1
  store double 2.500000e+00, ptr %circle, align 8
  %t = load i8, ptr %tag, align 1
  %wide = sext i8 %t to i32
  %v = load double, ptr %r, align 8
  %double = sitofp i32 %wide to double
  %sum = fadd double %v, %double
  ret double %sum
}

define i32 @main() {
  %o = alloca [16 x i8], align 1
  %v = call double @f(ptr %o, ptr %o)
  %1 = call i32 (ptr, ...) @printf(ptr @format, i32 0, double %v)
  ret i32 0
}

attributes #0 = { noinline }
%Deep = type { [2 x { i32, [3 x %Circle] }], <4 x i32>, ptr }
define void @deep(ptr %p, i64 %i) {
  br label %loop
loop:
  %a = phi ptr [ %p, %0 ], [ %n, %loop ]
  %b = getelementptr %Deep, ptr %a, i64 0, i32 0, i64 %i, i32 1, i64 2
  %c = getelementptr %Circle, ptr %b, i64 0, i32 1
  store double 1.0, ptr %c
  %n = getelementptr %Deep, ptr %a, i64 1
  store ptr %n, ptr getelementptr (%Deep, ptr @format, i64 0, i32 2)
  br label %loop
}

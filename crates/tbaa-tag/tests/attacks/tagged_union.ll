; A constructor writes a variant as a packed literal struct; the match reads it as a struct of its own name, after it
; has read the tag as the type of all variants.
; right:
; wrong: --nominal Shape --nominal Circle
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%Shape = type <{ i8, [15 x i8] }>
%Circle = type <{ i8, double }>
@format = private constant [7 x i8] c"%d %g\0A\00"
declare i32 @printf(ptr, ...)
define internal double @f(ptr %new, ptr %old) noinline {
  %tag = getelementptr <{ i8, double }>, ptr %new, i32 0, i32 0
  store i8 1, ptr %tag
  %r = getelementptr <{ i8, double }>, ptr %new, i32 0, i32 1
  store double 1.5, ptr %r
  %is = getelementptr %Shape, ptr %old, i32 0, i32 0
  store i8 2, ptr %is
  %circle = getelementptr %Circle, ptr %old, i32 0, i32 1
  store double 2.5, ptr %circle
  %t = load i8, ptr %tag
  %wide = sext i8 %t to i32
  %v = load double, ptr %r
  %double = sitofp i32 %wide to double
  %sum = fadd double %v, %double
  ret double %sum
}
define i32 @main() {
  %o = alloca [16 x i8]
  %v = call double @f(ptr %o, ptr %o)
  call i32 (ptr, ...) @printf(ptr @format, i32 0, double %v)
  ret i32 0
}

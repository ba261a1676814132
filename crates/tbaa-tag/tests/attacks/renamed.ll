; Two modules' structs after linking: LLVM has renamed one of them.
; right:
; wrong: --nominal left --nominal right
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%left = type { ptr, i32, { i16, float } }
%right = type { ptr, i32, { i16, float } }
@format = private constant [4 x i8] c"%d\0A\00"
declare i32 @printf(ptr, ...)
define internal i32 @f(ptr %a, ptr %b) noinline {
  %x = getelementptr %left, ptr %a, i32 0, i32 1
  %y = getelementptr %right, ptr %b, i32 0, i32 1
  store i32 1, ptr %x
  store i32 2, ptr %y
  %v = load i32, ptr %x
  ret i32 %v
}
define i32 @main() {
  %o = alloca %left
  %v = call i32 @f(ptr %o, ptr %o)
  call i32 (ptr, ...) @printf(ptr @format, i32 %v)
  ret i32 0
}

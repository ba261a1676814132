@format = private constant [6 x i8] c"%08x\0A\00"
declare i32 @printf(ptr, ...)
declare void @put(ptr)

define i32 @main() {
  %u = alloca [2 x i32], align 8
  %bits = call i32 @f(ptr %u, ptr %u)
  call i32 (ptr, ...) @printf(ptr @format, i32 %bits)
  ret i32 0
}

define i32 @f(ptr %u, ptr %p) noinline {
  store float 1.0, ptr %u@{U.f}
  call void @put(ptr %p)
  %f = load float, ptr %u@{U.f}
  %bits = bitcast float %f to i32
  ret i32 %bits
}

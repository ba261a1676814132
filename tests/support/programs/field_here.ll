@format = private constant [4 x i8] c"%d\0A\00"
declare i32 @printf(ptr, ...)
declare void @put(ptr)

define i32 @main() {
  %s = alloca [3 x i32], align 8
  %n = call i32 @f(ptr %s)
  call i32 (ptr, ...) @printf(ptr @format, i32 %n)
  ret i32 0
}

define i32 @f(ptr %s) noinline {
  %at = getelementptr i8, ptr %s, i64 4
  store i32 1, ptr %at@{S.n[*]}
  call void @put(ptr %s)
  %n = load i32, ptr %at@{S.n[*]}
  ret i32 %n
}

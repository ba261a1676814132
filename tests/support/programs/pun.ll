@format = private constant [12 x i8] c"%08x %d %d\0A\00"
declare i32 @printf(ptr, ...)

; float f(union { int i; float f; } *u, int *p) { u->f = 1; *p = 5; return u->f; }
define float @f(ptr %u, ptr %p) noinline {
  store float 1.0, ptr %u@{U.f}
  store i32 5, ptr %p@{*int}
  %f = load float, ptr %u@{U.f}
  ret float %f
}

; The count is asked for in each round.
define i32 @sum(ptr %t, ptr %u, i32 %rounds) noinline {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %s = phi i32 [ 0, %entry ], [ %more, %loop ]
  %at = getelementptr i8, ptr %t, i64 8
  %n = load i32, ptr %at@{T.count}
  %more = add i32 %s, %n
  %f = sitofp i32 %i to float
  %slot = getelementptr float, ptr %u, i32 %i
  store float %f, ptr %slot@{U.f}
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %rounds
  br i1 %again, label %loop, label %exit
exit:
  ret i32 %more
}

; struct T { int *p; int count; } *t, with t->p = &t->count.
define i32 @g(ptr %t) noinline {
  %at = getelementptr i8, ptr %t, i64 8
  store i32 7, ptr %at@{T.count}
  %p = load ptr, ptr %t@{T.p}
  store i32 8, ptr %p@{*int}
  %n = load i32, ptr %at@{T.count}
  ret i32 %n
}

define i32 @main() {
  %u = alloca [8 x i32], align 8
  %t = alloca [16 x i8], align 8
  %f = call float @f(ptr %u, ptr %u)
  %bits = bitcast float %f to i32
  %at = getelementptr i8, ptr %t, i64 8
  store ptr %at, ptr %t@{T.p}
  %g = call i32 @g(ptr %t)
  store i32 3, ptr %at@{T.count}
  %s = call i32 @sum(ptr %t, ptr %u, i32 5)
  call i32 (ptr, ...) @printf(ptr @format, i32 %bits, i32 %g, i32 %s)
  ret i32 0
}

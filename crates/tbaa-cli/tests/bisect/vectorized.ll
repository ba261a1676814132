; Each element is computed from the one before, read as a float and written as
; an int: the loop is vectorized as if they were apart.

define i64 @f(ptr %to, ptr %from) noinline {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr float, ptr %from, i64 %i
  %x = load float, ptr %p, !tbaa !11 ; guilty
  %bits = bitcast float %x to i32
  %more = add i32 %bits, 3
  %next = add i64 %i, 1
  %q = getelementptr i32, ptr %to, i64 %next
  store i32 %more, ptr %q, !tbaa !10 ; guilty
  %done = icmp eq i64 %next, 64
  br i1 %done, label %end, label %loop
end:
  %last = getelementptr i32, ptr %to, i64 64
  %v = load i32, ptr %last, !tbaa !10
  %r = zext i32 %v to i64
  ret i64 %r
}

; Accesses that have nothing to do with the fault.
define i64 @other(ptr %a, ptr %b, ptr %c) noinline {
  store i32 7, ptr %a, !tbaa !10
  store i64 8, ptr %b, !tbaa !12
  %x = load i32, ptr %a, !tbaa !10
  store float 1.0, ptr %c, !tbaa !11
  %y = load i64, ptr %b, !tbaa !12
  store i8 3, ptr %c, !tbaa !15
  %z = load i8, ptr %c, !tbaa !15
  %x64 = zext i32 %x to i64
  %z64 = zext i8 %z to i64
  %s = add i64 %x64, %y
  %t = add i64 %s, %z64
  ret i64 %t
}

@format = private constant [5 x i8] c"%ld\0A\00"
declare i32 @printf(ptr, ...)

define i32 @main() {
  %m = alloca [65 x i32]
  call void @llvm.memset.p0.i64(ptr %m, i8 0, i64 260, i1 false)
  %result = call i64 @f(ptr %m, ptr %m)
  %a = alloca i32
  %b = alloca i64
  %c = alloca float
  %noise = call i64 @other(ptr %a, ptr %b, ptr %c)
  %sum = add i64 %result, %noise
  call i32 (ptr, ...) @printf(ptr @format, i64 %sum)
  ret i32 0
}
!0 = !{!"omnipotent char", !1, i64 0}
!1 = !{!"planted"}
!2 = !{!"int", !0, i64 0}
!3 = !{!"float", !0, i64 0}
!4 = !{!"long", !0, i64 0}
!5 = !{!"double", !0, i64 0}
!6 = !{!"any pointer", !0, i64 0}
!10 = !{!2, !2, i64 0}
!11 = !{!3, !3, i64 0}
!12 = !{!4, !4, i64 0}
!13 = !{!5, !5, i64 0}
!14 = !{!6, !6, i64 0}
!15 = !{!0, !0, i64 0}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

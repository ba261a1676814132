; Two members are stored as a vector, under the tag of the first.

define i64 @f(ptr %pair, ptr %q) noinline {
  %member = getelementptr i8, ptr %pair, i64 8
  %before = load i64, ptr %member, !tbaa !22
  store <2 x i64> <i64 3, i64 5>, ptr %q, align 8, !tbaa !21 ; guilty
  %after = load i64, ptr %member, !tbaa !22 ; guilty
  %r = sub i64 %after, %before
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
  %m = alloca [2 x i64]
  store [2 x i64] zeroinitializer, ptr %m
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
!20 = !{!"pair", !4, i64 0, !4, i64 8}
!21 = !{!20, !4, i64 0}
!22 = !{!20, !4, i64 8}

; An allocator that was inlined hands an object's bytes out again: in each round
; they are a number, and then a table. The number's store goes behind the table's.

define i64 @f(ptr %number, ptr %table) noinline {
entry:
  br label %round
round:
  %i = phi i64 [ 0, %entry ], [ %next, %round ]
  store i64 %i, ptr %number, !tbaa !12 ; guilty
  store double 2.0, ptr %table, !tbaa !13 ; guilty
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, 10
  br i1 %more, label %round, label %done
done:
  %seen = load i64, ptr %table
  ret i64 %seen
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
  %m = alloca i64
  store i64 10, ptr %m, !tbaa !12
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

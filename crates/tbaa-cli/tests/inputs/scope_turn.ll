; Scopes that hold for one turn of a loop: the pointers change places in the next. The program is right.
declare void @llvm.experimental.noalias.scope.decl(metadata)
define i32 @f(ptr %a, ptr %b, i32 %n) noinline {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i2, %loop ]
  %p = phi ptr [ %a, %entry ], [ %q, %loop ]
  %q = phi ptr [ %b, %entry ], [ %p, %loop ]
  call void @llvm.experimental.noalias.scope.decl(metadata !2)
  store i32 %i, ptr %p, !alias.scope !2, !noalias !5
  %old = load i32, ptr %q, !alias.scope !5, !noalias !2
  %i2 = add i32 %i, 1
  %again = icmp slt i32 %i2, %n
  br i1 %again, label %loop, label %end
end:
  ret i32 %old
}
!1 = distinct !{!1, !"domain"}
!2 = !{!3}
!3 = distinct !{!3, !1, !"p"}
!4 = distinct !{!4, !1, !"q"}
!5 = !{!4}

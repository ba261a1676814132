
define i32 @f(ptr %p, ptr %q) {
  %a = load i32, ptr %p, !alias.scope !4
  store i32 7, ptr %q, !alias.scope !5
  %b = load i32, ptr %p, !alias.scope !4
  %c = add i32 %a, %b
  ret i32 %c
}
!tbaa.relations = !{!0}
!0 = !{!"tbaa:F", !"0", !"1"}
!1 = !{!"tbaa:F"}
!2 = !{!"tbaa:F:0", !1}
!3 = !{!"tbaa:F:1", !1}
!4 = !{!2}
!5 = !{!3}

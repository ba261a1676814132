; Title: a pointer from memory leads to no noalias parameter, unless its address has left the function
; $ tbaa blocks FILE @kept
; says: @kept: 3 loads, none blocked
; $ tbaa blocks FILE @left
; says: @left: 3 loads, 1 cannot be removed
declare void @keep(ptr) memory(argmem: read)
define i64 @kept(ptr noalias %v) {
  %n = getelementptr i8, ptr %v, i64 8
  %d = load ptr, ptr %v, !tbaa !4
  %a = load i64, ptr %n, !tbaa !1
  store i64 0, ptr %d, !tbaa !1
  %b = load i64, ptr %n, !tbaa !1
  %s = add i64 %a, %b
  ret i64 %s
}
define i64 @left(ptr noalias %v) {
  %n = getelementptr i8, ptr %v, i64 8
  call void @keep(ptr %v)
  %d = load ptr, ptr %v, !tbaa !4
  %a = load i64, ptr %n, !tbaa !1
  store i64 0, ptr %d, !tbaa !1
  %b = load i64, ptr %n, !tbaa !1
  %s = add i64 %a, %b
  ret i64 %s
}
!1 = !{!2, !2, i64 0}
!2 = !{!"long", !3, i64 0}
!3 = !{!"root"}
!4 = !{!5, !5, i64 0}
!5 = !{!"pointer", !3, i64 0}

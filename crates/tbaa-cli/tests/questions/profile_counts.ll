; Title: the counts of a profile in the module put the hottest loads first
; $ tbaa blocks FILE --format yaml | grep -e Function -e Hotness | tr -d '\n'
; says: Function:        'hot'Hotness:         9000Function:        'warm'Hotness:         300Function:        'never'Hotness:         0
; $ tbaa blocks FILE @never
; says: @never:3 load int; never run
; $ tbaa blocks FILE @unknown
; says: @unknown:3 load int
; never: run
; $ tbaa blocks FILE --opt no-such-opt
; says: note: the profile in the module is not used: cannot run no-such-opt
; says: @never:3 load int
; never: never run
define i32 @never(ptr %p, ptr %q) !prof !4 {
  %a = load i32, ptr %p, !tbaa !0
  store i32 1, ptr %q, !tbaa !0
  %b = load i32, ptr %p, !tbaa !0
  %s = add i32 %a, %b
  ret i32 %s
}
define i32 @warm(ptr %p, ptr %q, i1 %c) !prof !3 {
  %a = load i32, ptr %p, !tbaa !0
  store i32 1, ptr %q, !tbaa !0
  br i1 %c, label %more, label %end, !prof !6
more:
  %b = load i32, ptr %p, !tbaa !0
  br label %end
end:
  %r = phi i32 [ %a, %0 ], [ %b, %more ]
  ret i32 %r
}
define i32 @unknown(ptr %p, ptr %q) {
  %a = load i32, ptr %p, !tbaa !0
  store i32 1, ptr %q, !tbaa !0
  %b = load i32, ptr %p, !tbaa !0
  %s = add i32 %a, %b
  ret i32 %s
}
define i32 @hot(ptr %p, ptr %q) !prof !5 {
  %a = load i32, ptr %p, !tbaa !0
  store i32 1, ptr %q, !tbaa !0
  %b = load i32, ptr %p, !tbaa !0
  %s = add i32 %a, %b
  ret i32 %s
}
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"root"}
!3 = !{!"function_entry_count", i64 1200}
!4 = !{!"function_entry_count", i64 0}
!5 = !{!"function_entry_count", i64 9000}
!6 = !{!"branch_weights", i32 1, i32 3}

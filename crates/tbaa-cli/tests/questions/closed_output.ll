; Title: what is printed is not lost without a word, nor sent to a terminal as it is; inputs stay
; $ tbaa matrix FILE --format json
; says: a\u009bb
; $ tbaa matrix FILE >&-
; says: cannot write to standard output
; exit: 2
; $ tbaa matrix FILE >/dev/null
; exit: 0
; $ cp FILE $OUT/kept.ll; tbaa report $OUT/kept.ll -o $OUT/kept.ll
; says: is an input or output already
; exit: 2
; $ cmp FILE $OUT/kept.ll && tbaa report $OUT/kept.ll -o $OUT/kept.html
define void @f(ptr %p) {
  store i32 1, ptr %p, !tbaa !0
  ret void
}
!0 = !{!1, !1, i64 0}
!1 = !{!"a\C2\9Bb", !2, i64 0}
!2 = !{!"root"}

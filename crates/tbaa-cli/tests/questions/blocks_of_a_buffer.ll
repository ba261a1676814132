; Title: a tree of blocks of a buffer
; Asked: Can a tree of types say that a load at 16 to 23 is no store at 32 to 35?
; Source: https://github.com/halide/Halide/issues/9311 https://github.com/halide/Halide/pull/436
; Answer: Yes: blocks of a power of two, each below the block that holds it.
; $ tbaa matrix FILE --format grid
; says: MNM
; says: NMM
; says: MMM
define void @f(ptr %p, ptr %q, ptr %r) {
  store i32 1, ptr %p, !tbaa !0
  store i32 1, ptr %q, !tbaa !1
  store i32 1, ptr %r, !tbaa !2
  ret void
}
!0 = !{!3, !3, i64 0}
!1 = !{!4, !4, i64 0}
!2 = !{!5, !5, i64 0}
!3 = !{!"buf.width8.base16", !5, i64 0}
!4 = !{!"buf.width4.base32", !5, i64 0}
!5 = !{!"buf.width64.base0", !6, i64 0}
!6 = !{!"buf", !7, i64 0}
!7 = !{!"Halide buffer"}

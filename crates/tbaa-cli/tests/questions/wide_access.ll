; Title: an access to several elements under the tag of the first
; Asked: A vector load is tagged as its first element. Is it safe?
; Source: https://github.com/apache/tvm/pull/11181
; Answer: No: the other elements have tags of their own, which exclude it.
; $ tbaa lint FILE
; says: TBAA106
; exit: 1
target datalayout = "e-m:e-i64:64-n8:16:32:64-S128"
define float @f(ptr %p, ptr %q) {
  store i64 0, ptr %p, !tbaa !3
  %v = load float, ptr %q, !tbaa !4
  ret float %v
}
!0 = !{!"tvm"}
!1 = !{!"float", !0, i64 0}
!2 = !{!"pair", !1, i64 0, !1, i64 4}
!3 = !{!2, !1, i64 0}
!4 = !{!2, !1, i64 4}

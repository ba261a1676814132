; Title: an array header that is read as a value
; Asked: Which tags delete stores that fill the header of an array?
; Source: https://github.com/JuliaLang/julia/pull/62704
; Answer: `jtbaa_arrayptr` beside `jtbaa_value`, under which a union is read: NoAlias.
; $ tbaa alias FILE jtbaa_arrayptr jtbaa_value
; says: NoAlias
; $ tbaa alias FILE jtbaa_arrayptr jtbaa_array
; says: MayAlias
define void @f(ptr %p, ptr %q, ptr %r) {
  store ptr null, ptr %p, !tbaa !0
  store ptr null, ptr %q, !tbaa !1
  store ptr null, ptr %r, !tbaa !2
  ret void
}
!0 = !{!3, !3, i64 0}
!1 = !{!5, !5, i64 0}
!2 = !{!4, !4, i64 0}
!3 = !{!"jtbaa_arrayptr", !4, i64 0}
!4 = !{!"jtbaa_array", !7, i64 0}
!5 = !{!"jtbaa_value", !6, i64 0}
!6 = !{!"jtbaa_data", !7, i64 0}
!7 = !{!"jtbaa", !8, i64 0}
!8 = !{!"julia"}

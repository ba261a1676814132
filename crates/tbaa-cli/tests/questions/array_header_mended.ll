; Title: the same with the array below the value
; Asked: How must an array header be typed if a union may be read from it?
; Source: https://github.com/JuliaLang/julia/pull/62704 https://github.com/JuliaLang/julia/pull/62802
; Answer: Then a value may be a header. Alias scopes name the region of memory.
; $ tbaa alias FILE jtbaa_arrayptr jtbaa_value
; says: MayAlias
define void @f(ptr %p, ptr %q) {
  store ptr null, ptr %p, !tbaa !0
  store ptr null, ptr %q, !tbaa !1
  ret void
}
!0 = !{!3, !3, i64 0}
!1 = !{!5, !5, i64 0}
!3 = !{!"jtbaa_arrayptr", !4, i64 0}
!4 = !{!"jtbaa_array", !5, i64 0}
!5 = !{!"jtbaa_value", !6, i64 0}
!6 = !{!"jtbaa_data", !7, i64 0}
!7 = !{!"jtbaa", !8, i64 0}
!8 = !{!"julia"}

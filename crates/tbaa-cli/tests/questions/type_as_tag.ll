; Title: a type node attached as a tag
; Asked: I attach `!{!"double", !3}` to loads. Why does nothing become faster?
; Source: https://github.com/dibyendumajumdar/ravi/issues/28 https://github.com/llvm/llvm-project/pull/200370
; Answer: That is a type. A tag names a base type, an access type and an offset.
; $ tbaa lint FILE
; says: TBAA101
; exit: 1
define double @f(ptr %p) {
  %v = load double, ptr %p, !tbaa !1
  ret double %v
}
!1 = !{!"double", !2}
!2 = !{!"root"}

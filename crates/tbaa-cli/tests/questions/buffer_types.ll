; Title: one buffer under the types of its accesses
; Asked: A buffer is written as int16 and read as int32x32. Are tags by the type of the access right?
; Source: https://github.com/apache/tvm/pull/6046
; Answer: No: they exclude each other. Tag by the declared type of the buffer.
; $ tbaa lint FILE
; says: a value stored as int16 is read as int32
; exit: 1
define i32 @f(ptr %p) {
  store i16 0, ptr %p, !tbaa !0
  %v = load i32, ptr %p, !tbaa !1
  ret i32 %v
}
!0 = !{!2, !2, i64 0}
!1 = !{!3, !3, i64 0}
!2 = !{!"int16", !4, i64 0}
!3 = !{!"int32", !4, i64 0}
!4 = !{!"tvm"}

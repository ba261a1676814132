; Functions of C++: two overloads, and one that is alone.
define i64 @_ZN3geo3sumEP3vec(ptr %v) {
  %len = load i64, ptr %v, align 8, !tbaa !0
  store i64 0, ptr %v, align 8, !tbaa !0
  ret i64 %len
}
define i64 @_ZN3geo4sizeEP3vec(ptr %v) {
  %len = load i64, ptr %v, align 8, !tbaa !0
  ret i64 %len
}
define i64 @_ZN3geo4sizeEPi(ptr %v) {
  %n = load i32, ptr %v, align 4, !tbaa !4
  %m = sext i32 %n to i64
  ret i64 %m
}
!0 = !{!1, !2, i64 0}
!1 = !{!"_ZTS3vec", !2, i64 0}
!2 = !{!"long", !3, i64 0}
!3 = !{!"Simple C++ TBAA"}
!4 = !{!5, !5, i64 0}
!5 = !{!"int", !3, i64 0}

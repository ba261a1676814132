@table = internal constant [4 x i32] zeroinitializer
declare void @g(ptr)
declare i32 @personality(...)
define i32 @f(ptr %p, ptr %q, i1 %c, i64 %n) personality ptr @personality {
entry:
  %s = alloca ptr
  %o = alloca i32
  store ptr %p, ptr %s
  call void @llvm.lifetime.start.p0(ptr %o)
  %t = getelementptr [4 x i32], ptr @table, i64 0, i64 %n
  %u = load i32, ptr %t, !tbaa !0
  br label %head
head:
  %l = load ptr, ptr %s
  %e = getelementptr i32, ptr %l, i64 %n
  %v = load i32, ptr %e, !tbaa !0
  br i1 %c, label %body, label %last
body:
  store float 0.0, ptr %q, !tbaa !1
  store ptr %q, ptr %s
  invoke void @g(ptr %o) to label %head unwind label %pad
pad:
  %x = landingpad { ptr, i32 } cleanup
  br label %last
last:
  %w = load i32, ptr %p, !tbaa !0
  call void @llvm.memcpy.p0.p0.i64(ptr %o, ptr %q, i64 4, i1 false), !tbaa !1
  ret i32 %w
}
!0 = !{!2, !2, i64 0}
!1 = !{!3, !3, i64 0}
!2 = !{!"int", !4, i64 0}
!3 = !{!"float", !4, i64 0}
!4 = !{!"char", !5, i64 0}
!5 = !{!"root"}

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
declare i32 @llvm.experimental.deoptimize.i32(...)
declare void @llvm.experimental.deoptimize.isVoid(...)
declare i32 @tail(ptr)
declare void @use(ptr)

define i32 @deoptimized(ptr %p, i1 %fast) {
  %memory = alloca [3 x i32], align 4
  store i32 1, ptr %memory, align 4, !tbaa !0
  br i1 %fast, label %go, label %leave
go:
  call void @use(ptr %memory) [ "deopt"(ptr %memory, i32 1) ], !tbaa !0
  %a = load i32, ptr %p, align 4, !tbaa !0
  ret i32 %a
leave:
  store i32 2, ptr %p, align 4, !tbaa !0
  %r = call i32 (...) @llvm.experimental.deoptimize.i32(ptr %memory, i64 7) [ "deopt"(ptr %p, i32 3) ]
  ret i32 %r
}

define void @nothing(ptr %p) {
  %memory = alloca i64, align 8
  call void @use(ptr %memory)
  store i32 2, ptr %p, align 4, !tbaa !0
  call void (...) @llvm.experimental.deoptimize.isVoid() [ "deopt"() ]
  ret void
}

define i32 @tailed(ptr %p) {
  %memory = alloca i64, align 8
  call void @use(ptr %memory)
  store i32 2, ptr %p, align 4, !tbaa !0
  %r = musttail call i32 @tail(ptr %p) [ "deopt"(ptr %p) ]
  ret i32 %r
}

define i32 @guarded(ptr %p, i1 %ok) {
  call void (i1, ...) @llvm.experimental.guard(i1 %ok, i32 4) [ "deopt"(ptr %p) ]
  %a = load i32, ptr %p, align 4, !tbaa !0
  ret i32 %a
}
declare void @llvm.experimental.guard(i1, ...)

!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"char", !3, i64 0}
!3 = !{!"Simple C/C++ TBAA"}

; Memory that a tag calls constant is initialised before it is read first, also piece by piece, and is another's
; once it is given back, or a slot's life has ended.
source_filename = "constant.ll"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

declare ptr @calloc(i64, i64)
declare void @free(ptr)
declare void @llvm.lifetime.start.p0(i64, ptr)
declare void @llvm.lifetime.end.p0(i64, ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define i64 @read(ptr %p) noinline {
  %v = load i64, ptr %p, align 8, !tbaa !10
  ret i64 %v
}

define i64 @slot(i64 %n) noinline {
  %slot = alloca i64, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr %slot)
  store i64 %n, ptr %slot, align 8
  %v = call i64 @read(ptr %slot)
  call void @llvm.lifetime.end.p0(i64 8, ptr %slot)
  call void @llvm.lifetime.start.p0(i64 8, ptr %slot)
  store i64 %n, ptr %slot, align 8, !tbaa !11
  %w = call i64 @read(ptr %slot)
  call void @llvm.lifetime.end.p0(i64 8, ptr %slot)
  %sum = add i64 %v, %w
  ret i64 %sum
}

define i32 @main() {
  br label %loop
loop:
  %n = phi i64 [ 0, %0 ], [ %next, %loop ]
  %object = call ptr @calloc(i64 1, i64 32)
  call void @llvm.memset.p0.i64(ptr %object, i8 0, i64 32, i1 false)
  store i32 1, ptr %object, align 4, !tbaa !11
  %upper = getelementptr i8, ptr %object, i64 4
  store i32 0, ptr %upper, align 4
  %a = call i64 @read(ptr %object)
  %next.word = getelementptr i8, ptr %object, i64 8
  store i64 %n, ptr %next.word, align 8, !tbaa !11
  %b = call i64 @read(ptr %next.word)
  %c = call i64 @slot(i64 %n)
  %d = call i64 @read(ptr %object)
  call void @free(ptr %object)
  %next = add i64 %n, 1
  %more = icmp ult i64 %next, 20
  br i1 %more, label %loop, label %done
done:
  ret i32 0
}

!0 = !{!"my jit"}
!1 = !{!"value", !0, i64 0}
!2 = !{!"other", !0, i64 0}
!10 = !{!1, !1, i64 0, i64 1}
!11 = !{!1, !1, i64 0}
!12 = !{!2, !2, i64 0}

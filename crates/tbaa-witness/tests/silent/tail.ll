; Nothing may follow a `musttail` call but its `ret`, and the count of an `alloca` may have 128 bits.
source_filename = "tail.ll"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

declare ptr @calloc(i64, i64)
declare ptr @realloc(ptr, i64)
declare ptr @strcpy(ptr, ptr)

define ptr @copy(ptr %to, ptr %from) noinline {
  store i64 1, ptr %to, align 8, !tbaa !10
  %r = musttail call ptr @strcpy(ptr %to, ptr %from)
  ret ptr %r
}

define ptr @grow(ptr %p, i64 %n) noinline {
  %r = musttail call ptr @realloc(ptr %p, i64 %n)
  ret ptr %r
}

define i32 @main(i32 %c, ptr %v) {
  %p = call ptr @calloc(i64 1, i64 32)
  %q = call ptr @grow(ptr %p, i64 64)
  %n = zext i32 %c to i128
  %array = alloca i32, i128 %n, align 4
  store i32 7, ptr %array, align 4
  %r = call ptr @copy(ptr %q, ptr %array)
  %i = load i32, ptr %r, align 4, !tbaa !11
  %s = sub i32 %i, 7
  ret i32 %s
}

!0 = !{!"Simple C/C++ TBAA"}
!1 = !{!"omnipotent char", !0, i64 0}
!2 = !{!"int", !1, i64 0}
!3 = !{!"long", !1, i64 0}
!10 = !{!3, !3, i64 0}
!11 = !{!2, !2, i64 0}

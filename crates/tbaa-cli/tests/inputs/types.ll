target datalayout = "e-m:e-p:32:32-p270:32:32-p271:32:32-p272:64:64-i128:128-f64:32:64-f80:32-n8:16:32-S128"
target triple = "i686-pc-linux-gnu"

%struct.Node = type { ptr, %union.Value, [2 x %struct.Pair], { i8, float } }
%union.Value = type { double }
%struct.Pair = type <{ i16, i64 }>
%struct.Hidden = type opaque

define void @f(ptr %p) {
  store i32 0, ptr %p, align 4
  ret void
}

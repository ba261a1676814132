; Title: an address that an intrinsic returns again is known to other code after it was stored
; $ tbaa blocks FILE @laundered
; says: load i32 without a tag
; says: may change it
; $ tbaa blocks FILE @masked
; says: may change it
; $ tbaa blocks FILE @kept
; says: none blocked by a store or call
target datalayout = "e-m:e-i64:64-n8:16:32:64-S128"
declare void @g()
declare void @init(ptr captures(none))
declare ptr @llvm.launder.invariant.group.p0(ptr)
declare ptr @llvm.ptrmask.p0.i64(ptr, i64)
define i32 @laundered(ptr %out) {
  %i = alloca i32
  call void @init(ptr %i)
  %l = call ptr @llvm.launder.invariant.group.p0(ptr %i)
  store ptr %l, ptr %out
  %x = load i32, ptr %i
  call void @g()
  %y = load i32, ptr %i
  %z = add i32 %x, %y
  ret i32 %z
}
define i32 @masked(ptr %out) {
  %i = alloca i32
  call void @init(ptr %i)
  %l = call ptr @llvm.ptrmask.p0.i64(ptr %i, i64 -4)
  store ptr %l, ptr %out
  %x = load i32, ptr %i
  call void @g()
  %y = load i32, ptr %i
  %z = add i32 %x, %y
  ret i32 %z
}
define i32 @kept(ptr %out) {
  %i = alloca i32
  call void @init(ptr %i)
  %l = call ptr @llvm.launder.invariant.group.p0(ptr %i)
  %v = load i32, ptr %l
  store i32 %v, ptr %out
  %x = load i32, ptr %i
  call void @g()
  %y = load i32, ptr %i
  %z = add i32 %x, %y
  ret i32 %z
}

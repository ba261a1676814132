; Title: another name of a global, and a number as an address, may be the same memory
; $ tbaa blocks FILE @aliased
; says: may change it
; $ tbaa blocks FILE @numbered
; says: may change it
; $ tbaa blocks FILE @apart
; says: none blocked by a store or call
target datalayout = "e-m:e-i64:64-n8:16:32:64-S128"
@g = global i32 0
@h = global i32 0
@"a b" = weak alias i32, ptr @g
define i32 @aliased() {
  %x = load i32, ptr @g
  store i32 1, ptr @"a b"
  %y = load i32, ptr @g
  %z = add i32 %x, %y
  ret i32 %z
}
define i32 @numbered(i1 %c) {
  %p = select i1 %c, ptr @h, ptr inttoptr (i64 4096 to ptr)
  %x = load i32, ptr @g
  store i32 1, ptr %p
  %y = load i32, ptr @g
  %z = add i32 %x, %y
  ret i32 %z
}
define i32 @apart(i1 %c) {
  %p = select i1 %c, ptr @h, ptr null
  %x = load i32, ptr @g
  store i32 1, ptr %p
  %y = load i32, ptr @g
  %z = add i32 %x, %y
  ret i32 %z
}

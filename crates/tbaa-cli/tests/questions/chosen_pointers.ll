; Title: a choice of pointers: LLVM follows it for stores, not where a call gets it with an offset, nor a phi of a phi
; $ tbaa blocks FILE @sel2_gep
; says: load i32 without a tag
; says: may change it
; $ tbaa blocks FILE @phi2_gep_call
; says: load i32 without a tag
; says: may change it
; $ tbaa blocks FILE @phi_two_loop
; says: load i32 without a tag
; says: may change it
; $ tbaa blocks FILE @sel2_gepvar
; says: none blocked by a store or call
; $ tbaa blocks FILE @sel2_gep_store
; says: none blocked by a store or call
; $ tbaa blocks FILE @selnull_gep_store
; says: none blocked by a store or call
; $ tbaa blocks FILE @phi2_gep_store
; says: none blocked by a store or call
; $ tbaa blocks FILE @phi2_store
; says: none blocked by a store or call
; $ tbaa blocks FILE @phi_loop_gep
; says: none blocked by a store or call
; $ tbaa blocks FILE @phi_loop_var
; says: none blocked by a store or call
; $ tbaa blocks FILE @phi_loop_after
; says: none blocked by a store or call
target datalayout = "e-m:e-i64:64-n8:16:32:64-S128"
declare void @h(ptr captures(none), ptr)
declare i32 @g(ptr, ptr)
define i32 @sel2_gep(ptr %w, ptr %v, i1 %c, i64 %k) {
e:
  %i = alloca i32
  call void @h(ptr %i, ptr %w)
  %p = select i1 %c, ptr %v, ptr %w
  %q = getelementptr i8, ptr %p, i64 100
  %x = load i32, ptr %i
  call i32 @g(ptr %q, ptr %w)
  %y = load i32, ptr %i
  %z = add i32 %x, %y
  ret i32 %z
}
define i32 @phi2_gep_call(ptr %w, ptr %v, i1 %c, i64 %k) {
e:
  %i = alloca i32
  call void @h(ptr %i, ptr %w)
  br i1 %c, label %a, label %b
a:
  br label %b
b:
  %p = phi ptr [%w, %e], [%v, %a]
  %q = getelementptr i8, ptr %p, i64 8
  %x = load i32, ptr %i
  call i32 @g(ptr %q, ptr %w)
  %y = load i32, ptr %i
  %z = add i32 %x, %y
  ret i32 %z
}
define i32 @phi_two_loop(ptr %w, ptr %v, i1 %c, i64 %k) {
e:
  %i = alloca i32
  call void @h(ptr %i, ptr %w)
  br label %l
l:
  %p = phi ptr [%w, %e], [%n, %m]
  %d = icmp eq ptr %p, %v
  br i1 %d, label %a, label %b
a:
  %n1 = getelementptr i8, ptr %p, i64 1
  br label %m
b:
  %n2 = getelementptr i8, ptr %p, i64 2
  br label %m
m:
  %n = phi ptr [%n1, %a],[%n2, %b]
  %x = load i32, ptr %i
  store i32 4, ptr %n
  %y = load i32, ptr %i
  %zz = add i32 %x, %y
  br i1 %c, label %o, label %l
o:
  %z = add i32 %x, %y
  ret i32 %z
}
define i32 @sel2_gepvar(ptr %w, ptr %v, i1 %c, i64 %k) {
e:
  %i = alloca i32
  call void @h(ptr %i, ptr %w)
  %p = select i1 %c, ptr %v, ptr %w
  %q = getelementptr i8, ptr %p, i64 %k
  %x = load i32, ptr %i
  store i32 1, ptr %q
  %y = load i32, ptr %i
  %z = add i32 %x, %y
  ret i32 %z
}
define i32 @sel2_gep_store(ptr %w, ptr %v, i1 %c, i64 %k) {
e:
  %i = alloca i32
  call void @h(ptr %i, ptr %w)
  %p = select i1 %c, ptr %v, ptr %w
  %q = getelementptr i8, ptr %p, i64 8
  %x = load i32, ptr %i
  store i32 1, ptr %q
  %y = load i32, ptr %i
  %z = add i32 %x, %y
  ret i32 %z
}
define i32 @selnull_gep_store(ptr %w, ptr %v, i1 %c, i64 %k) {
e:
  %i = alloca i32
  call void @h(ptr %i, ptr %w)
  %p = select i1 %c, ptr null, ptr %w
  %q = getelementptr i8, ptr %p, i64 8
  %x = load i32, ptr %i
  store i32 1, ptr %q
  %y = load i32, ptr %i
  %z = add i32 %x, %y
  ret i32 %z
}
define i32 @phi2_gep_store(ptr %w, ptr %v, i1 %c, i64 %k) {
e:
  %i = alloca i32
  call void @h(ptr %i, ptr %w)
  br i1 %c, label %a, label %b
a:
  br label %b
b:
  %p = phi ptr [%w, %e], [%v, %a]
  %q = getelementptr i8, ptr %p, i64 8
  %x = load i32, ptr %i
  store i32 1, ptr %q
  %y = load i32, ptr %i
  %z = add i32 %x, %y
  ret i32 %z
}
define i32 @phi2_store(ptr %w, ptr %v, i1 %c, i64 %k) {
e:
  %i = alloca i32
  call void @h(ptr %i, ptr %w)
  br i1 %c, label %a, label %b
a:
  br label %b
b:
  %p = phi ptr [%w, %e], [%v, %a]
  %x = load i32, ptr %i
  store i32 1, ptr %p
  %y = load i32, ptr %i
  %z = add i32 %x, %y
  ret i32 %z
}
define i32 @phi_loop_gep(ptr %w, ptr %v, i1 %c, i64 %k) {
e:
  %i = alloca i32
  call void @h(ptr %i, ptr %w)
  %x = load i32, ptr %i
  br label %l
l:
  %p = phi ptr [%w, %e], [%n, %l]
  %q = getelementptr i8, ptr %p, i64 8
  %n = getelementptr i8, ptr %p, i64 4
  store i32 4, ptr %q
  %d = icmp eq ptr %n, %v
  br i1 %d, label %o, label %l
o:
  %y = load i32, ptr %i
  %z = add i32 %x, %y
  ret i32 %z
}
define i32 @phi_loop_var(ptr %w, ptr %v, i1 %c, i64 %k) {
e:
  %i = alloca i32
  call void @h(ptr %i, ptr %w)
  %x = load i32, ptr %i
  br label %l
l:
  %p = phi ptr [%w, %e], [%n, %l]
  %n = getelementptr i8, ptr %p, i64 %k
  store i32 4, ptr %p
  %d = icmp eq ptr %n, %v
  br i1 %d, label %o, label %l
o:
  %y = load i32, ptr %i
  %z = add i32 %x, %y
  ret i32 %z
}
define i32 @phi_loop_after(ptr %w, ptr %v, i1 %c, i64 %k) {
e:
  %i = alloca i32
  call void @h(ptr %i, ptr %w)
  br label %l
l:
  %p = phi ptr [%w, %e], [%n, %l]
  %n = getelementptr i8, ptr %p, i64 %k
  %d = icmp eq ptr %n, %v
  br i1 %d, label %o, label %l
o:
  %x = load i32, ptr %i
  store i32 4, ptr %n
  %y = load i32, ptr %i
  %z = add i32 %x, %y
  ret i32 %z
}

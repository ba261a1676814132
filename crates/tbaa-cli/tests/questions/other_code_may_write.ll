; Title: what may write a load's memory: a va_arg, a call after a volatile access or an intrinsic showed the address, and other names of the place
; $ tbaa blocks FILE @list
; says: may change it
; $ tbaa blocks FILE @named_readonly
; says: may change it
; $ tbaa blocks FILE @shown
; says: may change it
; $ tbaa blocks FILE @at_null
; says: may change it
; $ tbaa blocks FILE @index
; says: may change it
; $ tbaa blocks FILE @wraps
; says: may change it
; $ tbaa blocks FILE @escaped
; says: may change it
; $ tbaa blocks FILE @unnamed
; says: may change it
; $ tbaa blocks FILE @returned
; says: may change it
; $ tbaa blocks FILE @trampoline
; says: may change it
%struct.readonly_view = type { i32, i32 }
@ab = global i32 0
@g = external global i32
declare void @0()
declare void @"0"() memory(none)
declare void @view(ptr sret(%struct.readonly_view)) memory(argmem: readwrite)
declare void @h()
declare ptr @same(ptr nocapture returned)
declare void @llvm.init.trampoline(ptr, ptr, ptr)
define i32 @list(ptr %ap, ...) {
  %x = load i32, ptr %ap
  %v = va_arg ptr %ap, i32
  %y = load i32, ptr %ap
  %s = sub i32 %y, %x
  %t = add i32 %s, %v
  ret i32 %t
}
define i32 @named_readonly(ptr %p) {
  %x = load i32, ptr %p
  call void @view(ptr sret(%struct.readonly_view) %p)
  %y = load i32, ptr %p
  %s = sub i32 %y, %x
  ret i32 %s
}
define i32 @shown(ptr noalias %p) {
  %v = load volatile i32, ptr %p
  %x = load i32, ptr %p
  call void @h()
  %y = load i32, ptr %p
  %s = sub i32 %y, %x
  ret i32 %s
}
define i32 @at_null(i1 %c) null_pointer_is_valid {
  %q = select i1 %c, ptr @g, ptr null
  %x = load i32, ptr @ab
  store i32 7, ptr %q
  %y = load i32, ptr @ab
  %s = sub i32 %y, %x
  ret i32 %s
}
define i32 @index(ptr %p) {
  %p4 = getelementptr i8, ptr %p, i64 -4
  %a = getelementptr i32, ptr %p, i1 true
  %x = load i32, ptr %p4
  store i8 0, ptr %a
  %y = load i32, ptr %p4
  %s = sub i32 %y, %x
  ret i32 %s
}
define i64 @wraps(ptr %p) {
  %a = getelementptr i8, ptr %p, i64 -9223372036854775808
  %x = load i64, ptr %a, align 1
  %q = getelementptr i8, ptr %p, i64 9223372036854775805
  store i64 7, ptr %q, align 1
  %y = load i64, ptr %a, align 1
  %s = sub i64 %y, %x
  ret i64 %s
}
define i32 @escaped() {
  %x = load i32, ptr @ab
  store i8 7, ptr @"a\62"
  %y = load i32, ptr @ab
  %s = sub i32 %y, %x
  ret i32 %s
}
define i32 @unnamed(ptr %p) {
  %x = load i32, ptr %p
  call void @0()
  %y = load i32, ptr %p
  %s = sub i32 %y, %x
  ret i32 %s
}
define i32 @returned(ptr noalias %p) {
  %q = call ptr @same(ptr nocapture returned %p)
  %x = load i32, ptr %p
  store i8 7, ptr %q
  %y = load i32, ptr %p
  %s = sub i32 %y, %x
  ret i32 %s
}
define i32 @trampoline(ptr %o, i32 %v) {
  %p = alloca i32
  call void @llvm.init.trampoline(ptr %o, ptr @h, ptr %p)
  store i32 %v, ptr %p
  call void @h()
  %y = load i32, ptr %p
  ret i32 %y
}

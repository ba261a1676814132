define void @put(ptr %b, ptr %a) alwaysinline {
  %x = load i32, ptr %aA
  store i32 %x, ptr %bB
  ret void
}
define i32 @once(ptr %a, ptr %b) {
  %x = load i32, ptr %aA
  store i32 7, ptr %bB
  %y = load i32, ptr %aA
  %z = add i32 %x, %y
  ret i32 %z
}
define i32 @twice(ptr %a, ptr %b, ptr %c) {
  call void @put(ptr %b, ptr %a)
  call void @put(ptr %c, ptr %a)
  %x = load i32, ptr %aA
  ret i32 %x
}

define void @put(ptr %p) {
  store i32 5, ptr %p@{*int}
  ret void
}

define void @put(ptr %s) {
  %at = getelementptr i8, ptr %s, i64 4
  store i32 2, ptr %at@{S.n[*]}
  ret void
}

; What calls do to memory.
declare i32 @h(i32)
declare i32 @reads(ptr) #0
define i32 @says_nothing(ptr %p) {
  %x = load i32, ptr %p, align 4, !tbaa !0
  %c = call noundef range(i32 0, 5) i32 @h(i32 noundef %x)
  %y = load i32, ptr %p, align 4, !tbaa !0
  ret i32 %y
}
define i32 @says_it_of_the_call(ptr %p) {
  %x = load i32, ptr %p, align 4, !tbaa !0
  %c = call i32 @h(i32 %x) memory(none)
  %y = load i32, ptr %p, align 4, !tbaa !0
  ret i32 %y
}
define i32 @says_it_of_the_function(ptr %p) {
  %x = load i32, ptr %p, align 4, !tbaa !0
  %c = call i32 @reads(ptr %p)
  %y = load i32, ptr %p, align 4, !tbaa !0
  ret i32 %y
}
define i32 @has_a_bundle_that_writes(ptr %p) {
  %x = load i32, ptr %p, align 4, !tbaa !0
  %c = call i32 @reads(ptr %p) [ "unknown"(ptr %p) ]
  %y = load i32, ptr %p, align 4, !tbaa !0
  ret i32 %y
}
define i32 @intrinsics(ptr %p) {
  %x = load i32, ptr %p, align 4, !tbaa !0
  %c = call i32 @llvm.smax.i32(i32 %x, i32 1)
  %y = load i32, ptr %p, align 4, !tbaa !0
  ret i32 %y
}
attributes #0 = { nounwind
  memory(read)
}
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"R"}

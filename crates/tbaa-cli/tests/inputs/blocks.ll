; What may stand between two loads, a function for each. The types are those of
; struct S { int a; float b; union { int i; float f; } u; };
define i32 @no_tag(ptr %s, ptr %q) {
  %x = load i32, ptr %s, align 4, !tbaa !0
  store i32 1, ptr %q, align 4
  %y = load i32, ptr %s, align 4, !tbaa !0
  %z = add i32 %x, %y
  ret i32 %z
}

define i32 @no_tag_on_the_load(ptr %s, ptr %q) {
  %x = load i32, ptr %s, align 4
  store float 1.0, ptr %q, align 4, !tbaa !2
  %y = load i32, ptr %s, align 4
  %z = add i32 %x, %y
  ret i32 %z
}

define i32 @union_member(ptr %s, ptr %q) {
  %x = load i32, ptr %s, align 4, !tbaa !0
  store float 1.0, ptr %q, align 4, !tbaa !4
  %y = load i32, ptr %s, align 4, !tbaa !0
  %z = add i32 %x, %y
  ret i32 %z
}

define i32 @chars(ptr %s, ptr %q) {
  %x = load i32, ptr %s, align 4, !tbaa !0
  store i8 1, ptr %q, align 1, !tbaa !4
  %y = load i32, ptr %s, align 4, !tbaa !0
  %z = add i32 %x, %y
  ret i32 %z
}

define i32 @same_type(ptr %s, ptr %q) {
  %x = load i32, ptr %s, align 4, !tbaa !0
  store i32 1, ptr %q, align 4, !tbaa !5
  %y = load i32, ptr %s, align 4, !tbaa !0
  %z = add i32 %x, %y
  ret i32 %z
}

define i32 @same_place(ptr %s) {
  %x = load i32, ptr %s, align 4, !tbaa !0
  store i8 1, ptr %s, align 4, !tbaa !4
  %y = load i32, ptr %s, align 4, !tbaa !0
  %z = add i32 %x, %y
  ret i32 %z
}

define i32 @order(ptr %s, ptr %q) {
  %x = load i32, ptr %s, align 4, !tbaa !0
  fence seq_cst
  store atomic float 1.0, ptr %q seq_cst, align 4, !tbaa !2
  %y = load i32, ptr %s, align 4, !tbaa !0
  %z = add i32 %x, %y
  ret i32 %z
}

define i32 @calls(ptr %s, ptr %f) {
  %x = load i32, ptr %s, align 4, !tbaa !0
  call void @unknown()
  call void %f()
  %n = call i32 @reads(ptr %s) #0
  %m = call double @math(double 1.0)
  %y = load i32, ptr %s, align 4, !tbaa !0
  %z = add i32 %x, %y
  ret i32 %z
}

; Nothing keeps these: other bytes, other variables, other types, a constant.
define i32 @nothing(ptr noalias %s, ptr %q) {
  %v = alloca i32, align 4
  %x = load i32, ptr %s, align 4, !tbaa !0
  %b = getelementptr inbounds i8, ptr %s, i64 4
  store i32 1, ptr %b, align 4
  store i32 1, ptr %v, align 4
  store i32 1, ptr %q, align 4
  store i32 1, ptr @global, align 4
  %y = load i32, ptr %s, align 4, !tbaa !0
  %z = add i32 %x, %y
  ret i32 %z
}

define i32 @constant(ptr %s, ptr %q) {
  %x = load i32, ptr %s, align 4, !tbaa !6
  store i32 1, ptr %q, align 4
  %y = load i32, ptr %s, align 4, !tbaa !6
  %z = add i32 %x, %y
  ret i32 %z
}

; The value stands on both ways, and a store on one of them.
define i32 @two_ways(ptr %s, ptr %q, i1 %c) {
entry:
  br i1 %c, label %left, label %right
left:
  %x = load i32, ptr %s, align 4, !tbaa !0
  store i32 1, ptr %q, align 4, !tbaa !5
  br label %end
right:
  store i32 2, ptr %s, align 4, !tbaa !0
  br label %end
end:
  %y = load i32, ptr %s, align 4, !tbaa !0
  ret i32 %y
}

define i32 @one_way(ptr %s, ptr %q, i1 %c) {
entry:
  br i1 %c, label %left, label %end
left:
  %x = load i32, ptr %s, align 4, !tbaa !0
  store i32 %x, ptr %q, align 4, !tbaa !5
  br label %end
end:
  %y = load i32, ptr %s, align 4, !tbaa !0
  ret i32 %y
}

; One load in a loop is repeated, one is not, one is not in every turn.
define i32 @loop(ptr %s, ptr %q, i32 %n) {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %x = load i32, ptr %s, align 4, !tbaa !0
  %p = getelementptr inbounds i32, ptr %q, i32 %i
  %old = load i32, ptr %p, align 4, !tbaa !5
  store i32 %x, ptr %p, align 4, !tbaa !5
  %c = icmp eq i32 %old, 0
  br i1 %c, label %rare, label %latch
rare:
  %t = getelementptr inbounds i8, ptr %s, i64 4
  %f = load float, ptr %t, align 4, !tbaa !1
  store float %f, ptr %q, align 4, !tbaa !2
  br label %latch
latch:
  %next = add i32 %i, 1
  %d = icmp slt i32 %next, %n
  br i1 %d, label %head, label %end
end:
  ret i32 %x
}

; The pointer is loaded again, and so what it leads to.
define i32 @pointer(ptr %s, ptr %q) {
  %p = load ptr, ptr %s, align 8, !tbaa !7
  %x = load i32, ptr %p, align 4, !tbaa !5
  store ptr null, ptr %q, align 8, !tbaa !7
  %r = load ptr, ptr %s, align 8, !tbaa !7
  %y = load i32, ptr %r, align 4, !tbaa !5
  %z = add i32 %x, %y
  ret i32 %z
}

@global = global i32 0
declare void @unknown()
declare i32 @reads(ptr)
declare double @math(double) #1
attributes #0 = { nounwind memory(read) }
attributes #1 = { nounwind memory(errnomem: write) }

!llvm.errno.tbaa = !{!5}
!0 = !{!10, !11, i64 0}
!1 = !{!10, !12, i64 4}
!2 = !{!12, !12, i64 0}
!4 = !{!13, !13, i64 0}
!5 = !{!11, !11, i64 0}
!6 = !{!11, !11, i64 0, i64 1}
!7 = !{!15, !15, i64 0}
!10 = !{!"S", !11, i64 0, !12, i64 4, !13, i64 8}
!11 = !{!"int", !13, i64 0}
!12 = !{!"float", !13, i64 0}
!13 = !{!"omnipotent char", !14, i64 0}
!14 = !{!"Simple C/C++ TBAA"}
!15 = !{!"any pointer", !13, i64 0}

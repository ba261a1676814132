# Writes a function with this many stores, each of its own number, of three types.
echo 'define void @f(ptr %p) {'
awk "BEGIN { for (n = 0; n < $1; n++) printf \"  store i32 %d, ptr %%p, !tbaa !%d\\n\", n, n % 3 }"
cat << 'END'
  ret void
}
!0 = !{!3, !3, i64 0}
!3 = !{!"t0", !9}
!1 = !{!4, !4, i64 0}
!4 = !{!"t1", !9}
!2 = !{!5, !5, i64 0}
!5 = !{!"t2", !9}
!9 = !{!"root"}
END

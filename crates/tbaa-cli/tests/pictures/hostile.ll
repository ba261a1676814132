
define void @"<b>f\0A"(ptr %p) {
  store i32 1, ptr %p, !tbaa !0
  store float 1.0, ptr %p, !tbaa !4
  ret void
}
!0 = !{!1, !2, i64 0}
!1 = !{!"<script>alert('&\22]]></title></script>\0A\FF\E2\80\AE", !2, i64 0, !5, i64 0, !3, i64 8}
!2 = !{!"</script><!--", !3, i64 0}
!3 = !{!"--> \5C \EF\BF\BF</table>|{}", !6, i64 0}
!4 = !{!5, !5, i64 0}
!5 = !{!"\00\01\7F&lt;", !3, i64 0}
!6 = !{!"<svg/onload=alert(1)>"}

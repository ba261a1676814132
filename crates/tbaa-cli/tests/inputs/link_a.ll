target datalayout = "e-m:e-i64:64-n8:16:32:64-S128"

%struct.Point = type { i32, i32 }
%struct.Tuple = type { i32, i32 }
%struct.buffer = type { i32, %struct.Point }
%list = type { %list*, i32 }
%0 = type { ptr, %struct.FILE* }
%struct.FILE = type opaque

define void @f(ptr %p) {
  store i32 1, ptr %p, !tbaa !0
  store i32 1, ptr %p, !tbaa !5
  ret void
}

!0 = !{!1, !2, i64 0}
!1 = !{!"buffer", !2, i64 0, !6, i64 4}
!2 = !{!"int", !3, i64 0}
!3 = !{!"omnipotent char", !4, i64 0}
!4 = !{!"Simple C/C++ TBAA"}
!5 = !{!2, !2, i64 0}
!6 = !{!"Point", !2, i64 0, !2, i64 4}

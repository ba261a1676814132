target datalayout = "e-m:e-p:32:32-i64:64"

%struct.Point = type { i32, i32 }
%struct.buffer = type { float, %struct.Point.1 }
%struct.Point.1 = type { i32, i32 }
%node = type { %node*, i32 }
%root = type { %node*, i32 }
%struct.FILE.3 = type opaque

define void @g(ptr %p) {
  store float 1.0, ptr %p, !tbaa !0
  store i32 1, ptr %p, !tbaa !5
  ret void
}

!0 = !{!1, !7, i64 0}
!1 = !{!"buffer", !7, i64 0, !6, i64 4}
!2 = !{!"int", !3, i64 0}
!3 = !{!"omnipotent char", !4, i64 0}
!4 = !{!"Simple C/C++ TBAA"}
!5 = !{!2, !2, i64 0}
!6 = !{!"Point", !2, i64 0, !2, i64 4}
!7 = !{!"float", !3, i64 0}

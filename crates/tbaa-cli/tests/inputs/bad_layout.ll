target datalayout = "e-i64:33"
%a = type { i32 }

%struct.Log = type opaque
%struct.Pair = type { i32, i32 }
%struct.Queue = type { i64, %struct.Pair }
%struct.Two = type opaque

@log = external global %struct.Log
@two = external global %struct.Two
@queue = global %struct.Queue zeroinitializer

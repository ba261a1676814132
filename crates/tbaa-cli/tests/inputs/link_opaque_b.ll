%struct.Log = type { [4 x %struct.Pair.2], i8 }
%struct.Pair.2 = type opaque
%struct.Two = type { i32 }

@log = external global %struct.Log
@two = global %struct.Two zeroinitializer

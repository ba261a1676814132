%struct.Two = type { float }

@two = linkonce_odr global %struct.Two zeroinitializer

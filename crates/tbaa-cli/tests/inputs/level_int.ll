@level = dso_local global i32 0, align 4
@count = dso_local global i32 0, align 4
@name = internal global float 0.0

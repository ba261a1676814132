-- A table is copied from slot to slot, and then read.
local t = {}
t[1] = 5
local u = t
print(u[1])

local t = {}
for i = 1, 200000 do t[i] = (i * 7919) % 200003 end
table.sort(t)
local s = {}
for i = 1, 60000 do s[#s + 1] = ("k%d"):format(i % 1000) end
local c = table.concat(s, ",")
local n = 0
for w in c:gmatch("%w+") do n = n + #w end
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local P = {} P.__index = P
function P.new(x) return setmetatable({x = x, y = x}, P) end
function P:add(o) return P.new(self.x + o.x) end
local p = P.new(0)
for i = 1, 300000 do p = p:add(P.new(i)) end
print(n, fib(25), p.x, t[1], t[#t])

-- What the language has, line by line; Lua 5.4 must print the same.
print(1, -2, 2.5, 1e300, "text", true, nil)
print(7 // 2, -7 // 2, 7 // -2, 7 % 3, -7 % 3, 7 % -3, 7.5 // 2, -7.5 % 2, 5.0 % -3)
print(2 ^ 10, 1 / 4, 3 - 5 * 2, (3 - 5) * 2, -3 ^ 2, 0x10, 1e2, 10 // 0.3)
print(1 < 2, 2 <= 1, 1 == 1.0, "a" == "a", nil == false, 1 < 1.5, 9007199254740993 < 9007199254740992.0)
print(not nil, not 0, nil and 1, false or "x", 1 and 2, nil or false)
print(9223372036854775807 + 1, -9223372036854775807 - 2, 3037000500 * 3037000500)

local function any(a, b)
  return a + b, a - b, a * b, a / b, a // b, a % b, a < b, a <= b, a == b, -a
end
print(any(7, 2))
print(any(7.5, 2))
print(any(-7, 2.5))
print(any(1.5, 0.25))

-- Loops.
local total --[[: integer]] = 0
for i = 10, 1, -3 do total = total * 10 + i end
print(total)
for x = 1.0, 2.0, 0.25 do total = total + 1 end
for i = 1, 3.7 do total = total + 100 end
for i = 1, 0 do total = -1 end
for i = 9223372036854775806, 9223372036854775807 do total = total + 1000 end
print(total)
local function count(from, to, by)
  local n = 0
  for i = from, to, by do n = n + i end
  return n
end
print(count(1, 10, 2), count(1.5, 4, 1), count(3, 1, -1), count(1, 3.5, 1))
local k = 0
while true do
  k = k + 1
  if k % 2 == 0 and k > 6 then break elseif k > 100 then print("never") end
end
repeat local done = k >= 12; k = k + 1 until done
print(k)

-- Functions, closures, results.
local function three() return 1, 2, 3 end
local a, b, c, d = three()
print(a, b, c, d)
print((three()))
print(three(), three())
local function counter()
  local n = 0
  return function(by) n = n + by; return n end, function() return n end
end
local add, get = counter()
add(2)
add(3)
print(get())
local adders = {}
for i = 1, 3 do adders[i] = function(x) return x + i end end
print(adders[1](10), adders[2](10), adders[3](10))
function global(x) return x * 2 end
print(global(21), undefined)
local function ackermann(m, n)
  if m == 0 then return n + 1 end
  if n == 0 then return ackermann(m - 1, 1) end
  return ackermann(m - 1, ackermann(m, n - 1))
end
print(ackermann(2, 9))
local function deep(n --[[: integer]])
  if n == 0 then return 0 end
  return 1 + deep(n - 1)
end
print(deep(10000))

-- Tables.
local t = { 10, 20, 30, x = 1, ["y"] = 2, [100] = 3, [2.0] = 21 }
print(#t, t[1], t[3], t.x, t.y, t[100], t.z, t[4])
t.x, t.y = t.y, t.x
t[#t + 1] = 40
t[2], t[3] = t[3], t[2]
print(#t, t.x, t.y, t[2], t[3], t[4])
local many = {}
for i = 1, 100 do many[i * i] = i end
for i = 1, 100 do many[i] = many[i] or 0 end
local sum = 0
for i = 1, 10000 do sum = sum + (many[i] or 0) end
print(sum, #many >= 100)
local keys = { [true] = "t", [1.5] = "f", [t] = "table" }
print(keys[true], keys[1.5], keys[t], keys[false])
keys[1.5] = nil
print(keys[1.5])
t.inner = { deeper = { 5 } }
t.inner.deeper[2] = t.inner.deeper[1] + 1
print(t.inner.deeper[1], t.inner.deeper[2], #t.inner.deeper)
function t.method(self) return self.x end
print(t.method(t))
print(#{ three(), three() }, #{ three(), (three()) })
local p, q = { 0 }, { 0 }
for i = 1, 10 do
  p[1] = p[1] + i
  p, q = q, p
end
print(p[1], q[1])

-- Typed arrays.
local ints --[[: integer[] ]] = { 3, 1, 2 }
local nums --[[: number[] ]] = {}
for i = 1, 10 do
  ints[3 + i] = i
  nums[i] = i / 2
end
local x --[[: number]] = nums[3] + ints[1]
local as_any = ints
as_any[1] = as_any[2] + 5
print(#ints, #nums, x, ints[1], as_any[13])
local function typed(v --[[: integer[] ]], i --[[: integer]], f --[[: number]])
  v[i] = v[i] + i
  return v[i] * f
end
print(typed(ints, 2, 0.5))
local up --[[: number]] = 1.5
local function bump() up = up * 2; return up end
bump()
print(bump(), up)
print(math.sqrt(2), math.floor(-2.5), math.abs(-3), math.tointeger(3.0), math.tointeger(3.5))

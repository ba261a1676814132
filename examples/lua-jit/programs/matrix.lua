-- The product of two matrices: tables of rows, which are arrays of numbers.
local n --[[: integer]] = math.tointeger(... or 200)

local function matrix(n --[[: integer]], seed --[[: number]])
  local m = {}
  for i = 1, n do
    local row --[[: number[] ]] = {}
    for j = 1, n do
      row[j] = seed * (i - j) * (i + j)
    end
    m[i] = row
  end
  return m
end

local function transpose(n --[[: integer]], a)
  local t = {}
  for i = 1, n do
    local row --[[: number[] ]] = {}
    for j = 1, n do
      row[j] = a[j][i]
    end
    t[i] = row
  end
  return t
end

local function product(n --[[: integer]], a, b)
  local c, t = {}, transpose(n, b)
  for i = 1, n do
    local row --[[: number[] ]] = {}
    local left --[[: number[] ]] = a[i]
    for j = 1, n do
      local right --[[: number[] ]] = t[j]
      local sum --[[: number]] = 0.0
      for k = 1, n do
        sum = sum + left[k] * right[k]
      end
      row[j] = sum
    end
    c[i] = row
  end
  return c
end

local c = product(n, matrix(n, 1.0 / n), matrix(n, 2.0 / n))
local half = n // 2 + 1
print(c[1][1], c[half][half], c[n][1])

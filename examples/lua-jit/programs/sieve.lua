-- The sieve of Eratosthenes on an array of integers.
local n --[[: integer]] = math.tointeger(... or 5000000)

local function sieve(n --[[: integer]])
  local flags --[[: integer[] ]] = {}
  for i = 1, n do
    flags[i] = 1
  end
  local count --[[: integer]] = 0
  for i = 2, n do
    if flags[i] == 1 then
      count = count + 1
      for j = i * i, n, i do
        flags[j] = 0
      end
    end
  end
  return count
end

print(sieve(n))

-- Sums of integers and of floats, in locals alone.
local n --[[: integer]] = math.tointeger(... or 20000000)

local function sums(n --[[: integer]])
  local whole --[[: integer]] = 0
  local harmonic --[[: number]] = 0.0
  for i = 1, n do
    whole = whole + i % 7 * i
    harmonic = harmonic + 1 / i
  end
  return whole, harmonic
end

print(sums(n))

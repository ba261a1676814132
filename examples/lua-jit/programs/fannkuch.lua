-- Pancake flips over all permutations, from the Computer Language Benchmarks
-- Game.
local n --[[: integer]] = math.tointeger(... or 9)

local function fannkuch(n --[[: integer]])
  local p --[[: integer[] ]], q --[[: integer[] ]], s --[[: integer[] ]] = {}, {}, {}
  local sign --[[: integer]], most --[[: integer]], sum --[[: integer]] = 1, 0, 0
  for i = 1, n do
    p[i] = i
    q[i] = i
    s[i] = i
  end
  while true do
    local first --[[: integer]] = p[1]
    if first ~= 1 then
      for i = 2, n do
        q[i] = p[i]
      end
      local flips --[[: integer]] = 1
      while true do
        local at --[[: integer]] = q[first]
        if at == 1 then
          sum = sum + sign * flips
          if flips > most then
            most = flips
          end
          break
        end
        q[first] = first
        if first >= 4 then
          local i --[[: integer]], j --[[: integer]] = 2, first - 1
          repeat
            q[i], q[j] = q[j], q[i]
            i = i + 1
            j = j - 1
          until i >= j
        end
        first = at
        flips = flips + 1
      end
    end
    if sign == 1 then
      p[1], p[2] = p[2], p[1]
      sign = -1
    else
      p[2], p[3] = p[3], p[2]
      sign = 1
      for i = 3, n do
        local left --[[: integer]] = s[i]
        if left ~= 1 then
          s[i] = left - 1
          break
        end
        if i == n then
          return sum, most
        end
        s[i] = i
        local t --[[: integer]] = p[1]
        for j = 1, i do
          p[j] = p[j + 1]
        end
        p[i + 1] = t
      end
    end
  end
end

print(fannkuch(n))

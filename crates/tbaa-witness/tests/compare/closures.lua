-- Variables that closures share, closed in loops, and errors that are caught.
local made = {}
for i = 1, 100 do
  local n, m = i, 2 * i
  made[i] = {function() n = n + m; return n end, function() m = m + 1; return n end}
end
local sum, caught = 0, 0
for i = 1, 100 do
  sum = sum + made[i][1]() + made[i][2]() + made[i][1]()
  if not pcall(function() local n = i; made[1][1] = function() return n end; error({n}) end) then caught = caught + 1 end
end
print(sum, caught, ("x"):rep(3), made[1][1]())

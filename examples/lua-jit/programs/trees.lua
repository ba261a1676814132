-- Binary trees on tables, from the Computer Language Benchmarks Game.
local deepest --[[: integer]] = math.tointeger(... or 16)

local function tree(depth --[[: integer]])
  if depth == 0 then
    return { left = false, right = false }
  end
  return { left = tree(depth - 1), right = tree(depth - 1) }
end

local function count(node)
  if node.left then
    return 1 + count(node.left) + count(node.right)
  end
  return 1
end

for depth = 4, deepest, 4 do
  local trees --[[: integer]], nodes --[[: integer]] = math.tointeger(2 ^ (deepest - depth)), 0
  for _ = 1, trees do
    nodes = nodes + count(tree(depth))
  end
  print(trees, depth, nodes)
end

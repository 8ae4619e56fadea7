-- A table called by itself where deep recursion has left a stack with room for a long chain.
-- expect: plan_error
-- expect: limit_depth|limit_instructions|limit_memory|limit_wall
local function deep(n, ...)
  if n == 0 then return 0 end
  return 1 + deep(n - 1, ...)
end
function run()
  local many = {}
  for i = 1, 200 do many[i] = i end
  local t = {}
  setmetatable(t, { __call = t })
  deep(170, table.unpack(many))
  return t()
end

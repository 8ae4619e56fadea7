-- Arguments that double with each call.
-- expect: limit_memory|limit_depth|limit_instructions|plan_error
local function f(...) return f(..., ...) end
local function g(...)
  local t = { ... }
  for i = 1, #t do t[#t + 1] = t[i] end
  return g(table.unpack(t))
end
function run()
  pcall(f, 1, 2)
  return g(1, 2)
end

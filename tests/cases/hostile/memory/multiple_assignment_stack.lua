-- A function with as many values on its stack as it may have, deep.
-- expect: limit_depth|limit_memory
local function f(a, b, c, d, e, g, h, i, j, k)
  local x1, x2, x3, x4, x5, x6, x7, x8 = a, b, c, d, e, g, h, i
  return 1 + f(x1, x2, x3, x4, x5, x6, x7, x8, j, k)
end
function run() return f(1) end

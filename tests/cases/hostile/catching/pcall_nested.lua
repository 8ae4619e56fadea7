-- A hundred layers of pcall, each of which returns "ok".
-- expect: limit_instructions
local function nest(n)
  if n == 0 then while true do end end
  pcall(nest, n - 1)
  return "ok"
end
function run() return nest(50) end

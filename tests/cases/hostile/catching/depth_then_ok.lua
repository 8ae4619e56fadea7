-- The depth limit caught.
-- expect: limit_depth
local function down(n) return 1 + down(n + 1) end
function run()
  pcall(down, 1)
  return "ok"
end

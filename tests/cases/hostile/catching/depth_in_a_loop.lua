-- The depth limit caught in a loop.
-- expect: limit_depth
local function down(n) return 1 + down(n + 1) end
function run()
  while true do pcall(down, 1) end
end

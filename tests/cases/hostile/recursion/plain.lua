-- A function that calls itself.
-- expect: limit_depth
local function f() return 1 + f() end
function run() return f() end

-- Each level protected.
-- expect: limit_depth|limit_instructions|plan_error
local function f() return (select(2, pcall(f))) end
function run() return f() end

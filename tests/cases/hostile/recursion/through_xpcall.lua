-- Each level protected, the function is its own handler.
-- expect: limit_depth|limit_instructions|plan_error
local function f() return (select(2, xpcall(f, f))) end
function run() return f() end

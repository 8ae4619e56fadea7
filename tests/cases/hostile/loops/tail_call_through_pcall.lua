-- A tail call whose callee is pcall.
-- expect: limit_instructions|limit_depth|plan_error
local function f() return pcall(f) end
function run() while true do f() end end

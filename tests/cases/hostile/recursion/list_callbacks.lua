-- The plan library calls back into itself.
-- expect: limit_depth|limit_instructions|limit_memory|plan_error
local function f() return list.map({ 1, 2 }, f) end
function run() return f() end

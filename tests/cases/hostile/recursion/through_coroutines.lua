-- Each level in a coroutine of its own.
-- expect: limit_depth|limit_instructions|limit_memory|plan_error
local function f() return coroutine.wrap(f)() end
function run() return f() end

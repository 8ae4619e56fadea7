-- Attempts inside attempts.
-- expect: limit_depth|limit_instructions|limit_memory|plan_error
local function f() return retry(2, f) end
function run() return f() end

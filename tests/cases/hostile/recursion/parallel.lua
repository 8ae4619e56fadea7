-- Branches that branch.
-- expect: limit_depth|limit_instructions|limit_memory|plan_error
local function f() return parallel({ f, f }) end
function run() return f() end

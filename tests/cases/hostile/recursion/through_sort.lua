-- Each level inside a comparator.
-- expect: limit_depth|limit_instructions|plan_error
local function f() table.sort({ 2, 1 }, f) return true end
function run() return f() end

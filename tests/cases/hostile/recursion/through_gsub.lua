-- Each level inside a callback of gsub.
-- expect: limit_depth|limit_instructions|plan_error
local function f(x) return (string.gsub("x", "x", f)) end
function run() return f("x") end

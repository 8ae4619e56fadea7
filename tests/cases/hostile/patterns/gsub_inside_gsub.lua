-- Callbacks that match again, as deep as it goes.
-- expect: limit_depth|limit_instructions|plan_error
local function f(s) return (string.gsub(s, ".", f)) end
function run() return f("ab") end

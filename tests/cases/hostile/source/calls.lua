-- Calls in calls in calls.
-- generates: source
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run() return "function run() return " .. string.rep("f(", 20000) .. string.rep(")", 20000) .. " end" end

-- A call with thousands of arguments.
-- generates: source
-- expect: plan_syntax
function run() return "function run() print(" .. string.rep("1,", 20000) .. "1) end" end

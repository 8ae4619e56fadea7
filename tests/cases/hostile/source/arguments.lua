-- A call with thousands of arguments.
-- generates: source
-- expect: plan_syntax
-- expect on piccolo: engine_unsupported
function run() return "function run() print(" .. string.rep("1,", 20000) .. "1) end" end

-- A function of thousands of parameters.
-- generates: source
-- expect: plan_syntax
function run() return "function run(" .. string.rep("a,", 20000) .. "a) end" end

-- An assignment to thousands of targets.
-- generates: source
-- expect: plan_syntax
function run() return "function run() " .. string.rep("a,", 20000) .. "a = 1 end" end

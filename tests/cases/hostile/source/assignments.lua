-- An assignment to thousands of targets.
-- generates: source
-- expect: plan_syntax
-- expect on piccolo: engine_unsupported
function run() return "function run() " .. string.rep("a,", 20000) .. "a = 1 end" end

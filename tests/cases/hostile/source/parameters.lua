-- A function of thousands of parameters.
-- generates: source
-- expect: plan_syntax
-- expect on piccolo: engine_unsupported
function run() return "function run(" .. string.rep("a,", 20000) .. "a) end" end

-- A chain of the operator that is right associative.
-- generates: source
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run() return "function run() return " .. string.rep("'' .. ", 10000) .. "1 end" end

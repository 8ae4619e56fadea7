-- A chain of the operator that is right associative.
-- generates: source
-- expect: plan_syntax
function run() return "function run() return " .. string.rep("'' .. ", 10000) .. "1 end" end

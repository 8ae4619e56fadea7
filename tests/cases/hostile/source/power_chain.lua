-- The other operator that is right associative.
-- generates: source
-- expect: plan_syntax
function run() return "function run() return " .. string.rep("1 ^ ", 15000) .. "1 end" end

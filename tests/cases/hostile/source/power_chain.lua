-- The other operator that is right associative.
-- generates: source
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run() return "function run() return " .. string.rep("1 ^ ", 15000) .. "1 end" end

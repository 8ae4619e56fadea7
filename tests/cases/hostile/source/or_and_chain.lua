-- The same with both operators in turn.
-- generates: source
-- expect: result: 1
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run() return "function run() local a = 1 return " .. string.rep("a and a or ", 5500) .. "1 end" end

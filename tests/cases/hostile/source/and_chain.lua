-- An `and` chain of sixty thousand bytes: each operand patches the jumps of all before it.
-- generates: source
-- expect: result: 1
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run() return "function run() local a = 1 return " .. string.rep("a and ", 10000) .. "1 end" end

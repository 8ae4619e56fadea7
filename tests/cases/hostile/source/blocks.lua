-- do, while, if, for, repeat in one another.
-- generates: source
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run() return "function run() " .. string.rep("do while x do if x then for i = 1, 2 do repeat ", 700) .. string.rep("until x end end end end ", 700) .. "end" end

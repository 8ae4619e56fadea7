-- Unary operators in a row, of each kind.
-- generates: source
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run() return "function run() return " .. string.rep("not - # ~ ", 6000) .. "1 end" end

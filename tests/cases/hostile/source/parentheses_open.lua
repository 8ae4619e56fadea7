-- Parentheses that are never closed.
-- generates: source
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run() return "return " .. string.rep("(", 60000) end

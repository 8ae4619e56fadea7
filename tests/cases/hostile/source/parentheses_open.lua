-- Parentheses that are never closed.
-- generates: source
-- expect: plan_syntax
function run() return "return " .. string.rep("(", 60000) end

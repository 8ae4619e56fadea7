-- Tables in tables.
-- generates: source
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run() return "function run() return " .. string.rep("{", 30000) .. string.rep("}", 30000) .. " end" end

-- A long bracket of thousands of levels, never closed.
-- generates: source
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run() return "function run() return [" .. string.rep("=", 30000) .. "[" .. string.rep("]=", 10000) end

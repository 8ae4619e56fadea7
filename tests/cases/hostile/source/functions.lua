-- Functions in functions.
-- generates: source
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run() return string.rep("function run() ", 3000) .. string.rep("end ", 3000) end

-- A number of sixty thousand digits.
-- generates: source
-- expect: plan_syntax
-- expect: value_not_finite
-- expect: plan_error
-- expect on piccolo: limit_source
function run() return "function run() return " .. string.rep("9", 60000) .. " end" end

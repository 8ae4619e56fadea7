-- Keys in keys in keys.
-- generates: source
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run() return "function run() local t = {} return " .. string.rep("t[", 20000) .. "1" .. string.rep("]", 20000) .. " end" end

-- A hexadecimal number of sixty thousand digits, which wraps.
-- generates: source
-- expect: result: -1
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run() return "function run() return 0x" .. string.rep("f", 60000) .. " end" end

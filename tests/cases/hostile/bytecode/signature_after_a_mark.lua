-- The signature behind a byte order mark.
-- generates: source
-- expect: plan_syntax
function run() return "\xEF\xBB\xBF\x1bLuaT\0" end

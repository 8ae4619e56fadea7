-- The signature behind a first line that is skipped.
-- generates: source
-- expect: plan_syntax
function run() return "#!/usr/bin/lua\n\x1bLuaT\0" end

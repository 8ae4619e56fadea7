-- The first bytes of compiled Lua.
-- generates: source
-- expect: plan_syntax
function run() return "\x1bLua" .. "T\0\x19" end

-- LuaJIT's signature, and those of older versions.
-- generates: source
-- expect: plan_syntax
function run() return "\x1bLJ\2\0\x1bLuaQ\0\x1bLuaR\0\x1bLuaS\0" end

-- No Lua function is ever entered.
-- expect: limit_instructions
function run() while pcall(type, 1) do end end

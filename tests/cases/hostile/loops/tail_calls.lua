-- Tail calls leave no frame, so no depth can stop them.
-- expect: limit_instructions
local function f(n) return f(n + 1) end
function run() return f(1) end

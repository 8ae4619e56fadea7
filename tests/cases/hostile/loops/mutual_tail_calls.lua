-- Two functions that hand the run to one another.
-- expect: limit_instructions
local g
local function f(...) return g(...) end
function g(...) return f(...) end
function run() return f(1, 2, 3) end

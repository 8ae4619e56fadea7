-- Calls of an empty function.
-- expect: limit_instructions
local function nothing() end
function run() while true do nothing() end end

-- Endless work while a table is being built.
-- expect: limit_instructions
local function spin() while true do end end
function run() return { a = 1, b = spin() } end

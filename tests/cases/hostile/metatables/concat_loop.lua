-- `__concat` never returns.
-- expect: limit_instructions
function run() return "x" .. setmetatable({}, { __concat = function() while true do end end }) end

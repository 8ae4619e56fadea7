-- An operator never returns.
-- expect: limit_instructions
function run() return 1 // setmetatable({}, { __idiv = function() while true do end end }) end

-- `__pairs` itself never returns.
-- expect: limit_instructions
function run() for k in pairs(setmetatable({}, { __pairs = function() while true do end end })) do end end

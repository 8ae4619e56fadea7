-- `__newindex` never returns.
-- expect: limit_instructions
function run() setmetatable({}, { __newindex = function() while true do end end }).x = 1 end

-- `__call` never returns.
-- expect: limit_instructions
function run() return setmetatable({}, { __call = function() while true do end end })() end

-- `__len` never returns, in the operator and in the library.
-- expect: limit_instructions
function run() return table.unpack(setmetatable({}, { __len = function() while true do end end })) end

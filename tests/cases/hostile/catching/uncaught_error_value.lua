-- The error itself is a value whose `__tostring` never returns.
-- expect: plan_error
-- expect: limit_instructions
function run() error(setmetatable({}, { __tostring = function() while true do end end })) end

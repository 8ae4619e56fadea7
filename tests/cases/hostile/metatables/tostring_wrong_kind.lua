-- `__tostring` gives what is no text.
-- expect: plan_error
function run() return tostring(setmetatable({}, { __tostring = function() return {} end })) end

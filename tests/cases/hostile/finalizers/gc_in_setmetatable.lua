-- A finalizer is refused.
-- expect: plan_error __gc
function run() setmetatable({}, { __gc = function() while true do end end }) end

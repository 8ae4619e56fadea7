-- `run` is a table that can be called.
-- expect: plan_no_run
run = setmetatable({}, { __call = function() while true do end end })

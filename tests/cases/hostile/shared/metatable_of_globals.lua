-- The globals get a metatable that answers for everything, after `run` is gone.
-- expect: plan_no_run
-- expect: limit_instructions
setmetatable(_G, { __index = function() return function() while true do end end end })

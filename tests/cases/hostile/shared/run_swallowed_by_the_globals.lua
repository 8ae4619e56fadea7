-- The metatable of the globals swallows `run`.
-- expect: plan_no_run
setmetatable(_G, { __index = function() return print end, __newindex = function() end })
function run() return 1 end

-- `__len` says there are quintillions of items to sort.
-- expect: plan_error
-- expect: limit_instructions|limit_memory
function run() table.sort(setmetatable({}, { __len = function() return 1 << 40 end, __index = function() return 1 end })) end

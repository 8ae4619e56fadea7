-- `__len` says there are quintillions of items to move down.
-- expect: limit_instructions|plan_error
function run() table.remove(setmetatable({}, { __len = function() return math.maxinteger - 1 end }), 1) end

-- `__len` says there are quintillions of items to move.
-- expect: limit_instructions|plan_error
function run() table.insert(setmetatable({}, { __len = function() return math.maxinteger - 1 end }), 1, "x") end

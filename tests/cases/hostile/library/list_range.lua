-- A range of quintillions.
-- expect: limit_memory|limit_instructions|plan_error
function run() return #list.range(1, math.maxinteger) end

-- A range of quintillions of missing items.
-- expect: plan_error invalid value
-- expect: limit_instructions
function run() return table.concat({}, "", 1, math.maxinteger) end

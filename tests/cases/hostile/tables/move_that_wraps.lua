-- A move whose end lies beyond the largest integer.
-- expect: plan_error wrap around
function run() table.move({}, 1, math.maxinteger, 2) end

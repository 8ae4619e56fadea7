-- A move of quintillions of nils.
-- expect: limit_instructions
function run() table.move({}, 1, math.maxinteger - 1, 1, {}) end

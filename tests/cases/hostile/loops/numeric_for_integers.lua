-- As many rounds as a loop over integers can have.
-- expect: limit_instructions
function run() for i = math.mininteger, math.maxinteger do end end

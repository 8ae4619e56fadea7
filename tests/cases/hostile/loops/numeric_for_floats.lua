-- A loop over floats whose step is lost in rounding, so its counter never moves.
-- expect: limit_instructions
function run() for i = 1, math.huge, 1e-300 do end end

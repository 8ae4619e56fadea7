-- An integer loop with an infinite bound.
-- expect: limit_instructions
function run() for i = 1, math.huge do end end

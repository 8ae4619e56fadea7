-- Nothing is kept: this must end by instructions, and the host must not grow.
-- expect: limit_instructions
function run() while true do local t = { {}, {}, {}, "x" .. math.pi } end end

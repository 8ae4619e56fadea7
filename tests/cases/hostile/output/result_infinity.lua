-- Another one.
-- expect: value_not_finite
function run() return { -math.huge } end

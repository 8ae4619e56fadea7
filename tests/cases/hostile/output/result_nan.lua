-- A number that no JSON has.
-- expect: value_not_finite
function run() return { a = { 0 / 0 } } end

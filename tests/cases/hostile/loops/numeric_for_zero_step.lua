-- A step of zero must be refused, not loop.
-- expect: plan_error step is zero
function run() for i = 1, 10, 0 do end end

-- NaN is in no order with anything.
-- expect: result: 5
-- expect: plan_error invalid order function
function run()
  local t = { 3, 0 / 0, 1, 0 / 0, 2 }
  table.sort(t)
  return #t
end

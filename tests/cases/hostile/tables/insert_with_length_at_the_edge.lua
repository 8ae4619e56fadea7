-- `__len` at the largest integer: the next place overflows.
-- expect: result: "ended"
-- expect: plan_error
function run()
  table.insert(setmetatable({}, { __len = function() return math.maxinteger end }), "x")
  return "ended"
end

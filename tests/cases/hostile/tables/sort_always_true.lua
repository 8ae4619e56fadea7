-- A comparator that says yes to everything.
-- expect: result: "ended"
-- expect: plan_error invalid order function
function run()
  local t = {}
  for i = 1, 2000 do t[i] = i end
  table.sort(t, function() return true end)
  return "ended"
end

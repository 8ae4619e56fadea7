-- A table that holds itself.
-- expect: value_cyclic
-- expect: plan_error contains itself
function run()
  local t = {}
  t[1] = t
  return json.encode(t)
end

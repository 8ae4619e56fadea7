-- A list that holds itself, flattened without bound.
-- expect: limit_depth|limit_instructions|limit_memory|plan_error|value_cyclic
function run()
  local t = { 1 }
  t[2] = t
  return list.flatten(t, 1 << 40)
end

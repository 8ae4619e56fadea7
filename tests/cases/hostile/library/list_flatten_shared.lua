-- Shared children, flattened without bound.
-- expect: limit_instructions|limit_memory|plan_error
function run()
  local t = { 1, 2 }
  for i = 1, 40 do t = { t, t } end
  return #list.flatten(t, 100)
end

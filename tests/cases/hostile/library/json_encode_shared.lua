-- Shared children, two to the fortieth of them.
-- expect: limit_memory|plan_error|value_too_large
function run()
  local t = { 1 }
  for i = 1, 40 do t = { t, t } end
  return #json.encode(t)
end

-- A table that holds itself by way of shared children: two to the thirtieth nodes.
-- expect: limit_memory|value_too_large
function run()
  local t = { 1 }
  for i = 1, 30 do t = { t, t } end
  return t
end

-- Two to the fortieth nodes.
-- expect: limit_memory|value_too_large
function run()
  local t = { "x" }
  for i = 1, 40 do t = { t, t } end
  echo(t)
end

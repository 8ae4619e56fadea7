-- A hundred thousand arguments.
-- expect: limit_memory|value_too_large|plan_error
-- expect: result: 1
function run()
  echo(table.unpack({}, 1, 100000))
  local t = {}
  for i = 1, 100000 do t[i] = i end
  echo(table.unpack(t))
  return 1
end

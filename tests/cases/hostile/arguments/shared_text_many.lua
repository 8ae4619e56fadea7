-- One text as each of a hundred arguments.
-- expect: limit_memory
function run()
  local s, t = string.rep("x", 1000000), {}
  for i = 1, 100 do t[i] = s end
  echo(table.unpack(t))
end

-- One text of a megabyte, a thousand times.
-- expect: limit_memory|limit_output
function run()
  local s, t = string.rep("x", 1000000), {}
  for i = 1, 1000 do t[i] = s end
  return t
end

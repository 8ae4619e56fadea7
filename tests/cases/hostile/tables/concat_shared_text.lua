-- One long text, many times.
-- expect: limit_memory|limit_instructions
function run()
  local t, s = {}, string.rep("x", 100000)
  for i = 1, 1000 do t[i] = s end
  return #table.concat(t)
end

-- One long text many times, and items of every kind.
-- expect: limit_memory
function run()
  local t, s = {}, string.rep("x", 1000000)
  for i = 1, 1000 do t[i] = s end
  return #text.join(t, s)
end

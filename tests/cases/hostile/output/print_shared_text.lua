-- One long text as every argument of one print.
-- expect: limit_print|limit_memory
function run()
  local t, s = {}, string.rep("x", 1000000)
  for i = 1, 200 do t[i] = s end
  print(table.unpack(t))
end

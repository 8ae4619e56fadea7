-- What comes back is as large as what was sent, and kept.
-- expect: limit_memory|limit_tool_calls
function run()
  local kept, s = {}, string.rep("x", 1500000)
  for i = 1, 19 do kept[i] = echo(s .. i) end
  return "kept"
end

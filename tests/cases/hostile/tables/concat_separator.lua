-- A separator longer than all items.
-- expect: limit_memory|limit_instructions
function run()
  local t = {}
  for i = 1, 1000 do t[i] = "" end
  return #table.concat(t, string.rep("x", 100000))
end

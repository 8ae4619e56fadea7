-- select over many arguments: each call copies them all, and costs what it copies.
-- expect: limit_instructions|limit_memory
local function count(...)
  local n = 0
  for i = 1, select("#", ...) do n = n + (select(i, ...)) end
  return n
end
function run()
  local t = {}
  for i = 1, 5000 do t[i] = i end
  while true do count(table.unpack(t)) end
end

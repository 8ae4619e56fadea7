-- Items that are tables: whether each is compared with all before it.
-- expect: limit_instructions|limit_memory
function run()
  local t = {}
  for i = 1, 3000 do t[i] = { i } end
  while true do list.unique(t) end
end

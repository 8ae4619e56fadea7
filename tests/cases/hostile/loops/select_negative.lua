-- select from the end, over many arguments.
-- expect: limit_instructions|limit_memory
function run()
  local t = {}
  for i = 1, 20000 do t[i] = i end
  while true do local x = select(-1, table.unpack(t)) end
end

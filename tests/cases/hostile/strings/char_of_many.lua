-- As many arguments as the stack holds.
-- expect: limit_instructions|limit_memory|plan_error
function run()
  local t = {}
  for i = 1, 100000 do t[i] = 65 end
  while true do string.char(table.unpack(t)) end
end

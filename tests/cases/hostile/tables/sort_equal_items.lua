-- A million equal items.
-- expect: limit_instructions|limit_memory
function run()
  local t = {}
  for i = 1, 200000 do t[i] = 1 end
  while true do table.sort(t) end
end

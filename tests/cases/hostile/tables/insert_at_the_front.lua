-- Each insertion moves everything.
-- expect: limit_instructions|limit_memory
function run()
  local t = {}
  while true do table.insert(t, 1, 1) end
end

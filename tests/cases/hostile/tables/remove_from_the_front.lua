-- Each removal moves everything.
-- expect: limit_instructions|limit_memory
function run()
  local t = {}
  for i = 1, 100000 do t[i] = i end
  while true do
    table.remove(t, 1)
    t[#t + 1] = 1
  end
end

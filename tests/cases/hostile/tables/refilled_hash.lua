-- Keys put in and taken out so that the table is built anew each time.
-- expect: limit_instructions|limit_memory
function run()
  local t = {}
  while true do
    for i = 1, 1000 do t["k" .. i] = i end
    for i = 1, 1000 do t["k" .. i] = nil end
    for i = 1, 1000 do t[i + 0.5] = i end
    for i = 1, 1000 do t[i + 0.5] = nil end
  end
end

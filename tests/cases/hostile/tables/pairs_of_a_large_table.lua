-- Each pairs sorts all keys before its first step, and leaves at once.
-- expect: limit_instructions|limit_memory
function run()
  local t = {}
  for i = 1, 20000 do t["k" .. i] = i end
  while true do
    for k in pairs(t) do break end
  end
end

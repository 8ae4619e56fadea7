-- Each step of next asks for a key out of order, so the order is made anew each time.
-- expect: limit_instructions|limit_memory
function run()
  local t = {}
  for i = 1, 20000 do t["k" .. i] = i end
  while true do
    next(t, "k7")
    next(t, "k9")
  end
end

-- Coroutines that never ran.
-- expect: limit_memory
-- expect on piccolo: limit_instructions|limit_memory
function run()
  local t = {}
  while true do t[#t + 1] = coroutine.create(print) end
end

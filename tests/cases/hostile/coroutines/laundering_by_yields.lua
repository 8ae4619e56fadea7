-- One coroutine that yields before any count is full.
-- expect: limit_instructions
function run()
  local step = coroutine.wrap(function() while true do for i = 1, 50 do end coroutine.yield() end end)
  while true do step() end
end

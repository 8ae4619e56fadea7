-- Coroutines that each hold a full stack.
-- expect: limit_memory|limit_instructions
function run()
  local t = {}
  local function hold(n) if n > 0 then return 1 + hold(n - 1) end coroutine.yield() return 0 end
  while true do
    local co = coroutine.create(hold)
    coroutine.resume(co, 100)
    t[#t + 1] = co
  end
end

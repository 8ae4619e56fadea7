-- CVE-2021-43519 (Lua 5.1.0 to 5.4.4): coroutines resumed inside coroutines used up the C stack.
-- expect: limit_depth|plan_error|limit_instructions|limit_memory
-- limits: depth=1000000
local function nest() return coroutine.wrap(nest)() end
local function again(e) return coroutine.wrap(pcall)(coroutine.wrap(again), e) end
function run()
  for i = 1, 50 do pcall(nest) end
  return nest()
end

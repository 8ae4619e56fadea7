-- The same with resume, errors ignored.
-- expect: limit_depth|limit_instructions|limit_memory|plan_error
local function f() return coroutine.resume(coroutine.create(f)) end
function run()
  while true do f() end
end

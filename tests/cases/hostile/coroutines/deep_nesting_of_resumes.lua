-- Coroutines inside coroutines, until the C stack has no room.
-- expect: limit_depth|limit_instructions|limit_memory|plan_error
-- expect: result: "ended"
local function nest(n)
  if n == 0 then return "bottom" end
  local co = coroutine.create(nest)
  local ok, v = coroutine.resume(co, n - 1)
  return v
end
function run()
  nest(150)
  nest(1000)
  return "ended"
end

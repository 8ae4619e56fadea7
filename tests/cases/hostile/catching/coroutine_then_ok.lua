-- A coroutine dies of the limit, the plan says all is well.
-- expect: limit_instructions
function run()
  local co = coroutine.create(function() while true do end end)
  coroutine.resume(co)
  coroutine.close(co)
  return "ok"
end

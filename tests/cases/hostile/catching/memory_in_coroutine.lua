-- Memory used up inside a coroutine of the plan's.
-- expect: limit_memory
function run()
  local co = coroutine.create(function() local t = {} while true do t = { t } end end)
  coroutine.resume(co)
  return "ok"
end

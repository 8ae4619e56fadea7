-- A coroutine waits for a call when the plan ends.
-- expect: result: "ended"
-- expect on piccolo: engine_unsupported
function run()
  local co = coroutine.create(function() local x <close> = setmetatable({}, { __close = function() echo(2) end }) coroutine.yield(echo(1)) end)
  coroutine.resume(co)
  return "ended"
end

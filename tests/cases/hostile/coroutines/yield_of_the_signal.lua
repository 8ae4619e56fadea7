-- The plan yields whatever it finds, hoping to look like the host's own pauses.
-- expect: result: "ended"
function run()
  local co = coroutine.create(function(...)
    for kind = 0, 5 do
      coroutine.yield(null, kind)
      coroutine.yield({}, kind, 1, 2, 3)
      coroutine.yield(print, kind)
      coroutine.yield(nil, kind)
      coroutine.yield(coroutine.running(), kind)
    end
  end)
  while coroutine.resume(co) do end
  return "ended"
end

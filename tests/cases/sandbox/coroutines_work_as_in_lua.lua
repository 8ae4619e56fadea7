-- result: [1,2,3,"cannot resume dead coroutine",true,false,"plan.lua:10: oops","suspended"]
function run()
  local gen = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
  local a, b, c = gen(), gen(), gen()
  local co = coroutine.create(function() end)
  coroutine.resume(co)
  local _, dead = coroutine.resume(co)
  local closed = coroutine.close(coroutine.create(print))
  local failing = coroutine.create(function()
    error("oops")
  end)
  local ok, why = coroutine.resume(failing)
  return { a, b, c, dead, closed, ok, why, coroutine.status(coroutine.create(print)) }
end

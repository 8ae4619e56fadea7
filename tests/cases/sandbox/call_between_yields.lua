-- result: [1,"x",2,"y",3,"dead"]
function run()
  local co = coroutine.create(function(a)
    local b = coroutine.yield(echo(a))
    local c = coroutine.yield(echo(2))
    coroutine.yield(echo(3))
    return c
  end)
  local log = {}
  local function step(...)
    local _, got = coroutine.resume(co, ...)
    return got
  end
  log[1] = step(1)
  log[2] = "x"
  log[3] = step("x")
  log[4] = "y"
  log[5] = step("y")
  step()
  log[6] = coroutine.status(co)
  return log
end

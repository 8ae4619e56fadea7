-- The plan's own main coroutine is resumed from inside.
-- expect: result: false
function run()
  local main = coroutine.running()
  return (coroutine.resume(main))
end

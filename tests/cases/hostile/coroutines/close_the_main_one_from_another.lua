-- The main coroutine is closed by one it resumed.
-- expect: result: false
function run()
  local main = coroutine.running()
  return coroutine.wrap(function() return (pcall(coroutine.close, main)) end)()
end

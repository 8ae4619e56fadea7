-- Two coroutines that resume one another without end.
-- expect: limit_instructions|limit_memory|plan_error
function run()
  local a, b
  a = coroutine.wrap(function() while true do coroutine.yield() end end)
  b = coroutine.wrap(function() while true do a() coroutine.yield() end end)
  while true do b() end
end

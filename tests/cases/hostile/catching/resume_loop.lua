-- Each dead coroutine is replaced by a new one.
-- expect: limit_instructions
function run()
  while true do coroutine.resume(coroutine.create(function() while true do end end)) end
end

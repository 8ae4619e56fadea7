-- The same with wrap.
-- expect: limit_instructions
function run()
  while true do pcall(coroutine.wrap(function() while true do end end)) end
end

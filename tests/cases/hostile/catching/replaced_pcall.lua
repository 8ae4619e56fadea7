-- The plan's own pcall, made of coroutines.
-- expect: limit_instructions
function pcall(f, ...) return coroutine.resume(coroutine.create(f), ...) end
function run()
  while true do pcall(function() while true do end end) end
end

-- Coroutines so short that a coarse count sees none of their work.
-- expect: limit_instructions
function run()
  while true do
    coroutine.wrap(function() local x = 0 for i = 1, 50 do x = x + i end end)()
  end
end

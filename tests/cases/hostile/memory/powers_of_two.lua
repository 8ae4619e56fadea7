-- Half of the slots used, so that the array part doubles.
-- expect: limit_memory|limit_instructions
function run()
  local t, i = {}, 1
  while true do t[i] = i i = i + 2 end
end

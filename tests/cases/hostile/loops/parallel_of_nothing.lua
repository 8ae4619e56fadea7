-- parallel of many empty branches, again and again.
-- expect: limit_instructions|limit_memory
function run()
  local fs = {}
  for i = 1, 200 do fs[i] = function() end end
  while true do parallel(fs) end
end

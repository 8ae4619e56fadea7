-- The border of a table built so that it must be searched for.
-- expect: limit_instructions|limit_memory
function run()
  local t = {}
  for i = 1, 40 do t[1 << i] = true end
  while true do local n = #t end
end

-- A list without end, each node holding the next.
-- expect: limit_memory
function run()
  local head
  while true do head = { head } end
end

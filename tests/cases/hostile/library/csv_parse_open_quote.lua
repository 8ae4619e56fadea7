-- A quote that is never closed, doubled quotes all the way.
-- expect: limit_instructions|limit_memory
function run()
  local s = '"' .. string.rep('""', 1000000)
  while true do pcall(csv.parse, s) end
end

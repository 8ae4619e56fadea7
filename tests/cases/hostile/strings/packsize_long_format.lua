-- A long format measured again and again.
-- expect: limit_instructions
function run()
  local f = string.rep("b", 500000)
  while true do string.packsize(f) end
end

-- %b over nothing but openers, from each start.
-- expect: limit_instructions
function run()
  local s = string.rep("(", 300000)
  while true do string.find(s, "%b()") end
end

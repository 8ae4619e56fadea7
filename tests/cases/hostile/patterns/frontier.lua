-- The frontier pattern never matches, over a long subject, again and again.
-- expect: limit_instructions
function run()
  local s = string.rep("a", 100000)
  while true do string.find(s, "%f[%d]x") end
end

-- A first letter found everywhere, a second nowhere.
-- expect: limit_instructions
function run()
  local s = string.rep("ab", 500000)
  while true do string.find(s, "aa", 1, true) end
end

-- A set of thousands of members tested at each character.
-- expect: limit_instructions
-- expect on piccolo: limit_instructions
-- expect on piccolo: result: {}
function run()
  local set = "[" .. string.rep("bcdefgh", 2000) .. "]"
  local s = string.rep("a", 200000)
  return string.find(s, set)
end

-- As many captures as there may be, nested, with backtracking through each.
-- expect: limit_instructions
function run()
  local p = string.rep("(.-", 30) .. "b" .. string.rep(")", 30)
  return string.find(string.rep("a", 60), p)
end

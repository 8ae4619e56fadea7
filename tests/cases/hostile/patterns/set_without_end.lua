-- A set whose end is looked for over a long pattern, again and again.
-- expect: limit_instructions
function run()
  local p = "[" .. string.rep("a", 60000)
  while true do pcall(string.find, "b", p) end
end

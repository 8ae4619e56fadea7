-- A copy of nearly all, again and again.
-- expect: limit_instructions
function run()
  local s = string.rep("x", 4000000)
  while true do s:sub(2, -2) end
end

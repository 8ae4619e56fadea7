-- A million digits in base 36.
-- expect: limit_instructions
function run()
  local s = string.rep("z", 1000000)
  while true do tonumber(s, 36) end
end

-- A number of a million digits is read to its end.
-- expect: limit_instructions
function run()
  local s = string.rep("1", 1000000)
  while true do tonumber(s) end
end

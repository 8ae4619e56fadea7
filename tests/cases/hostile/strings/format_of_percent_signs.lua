-- A format of nothing but escapes.
-- expect: limit_instructions
function run()
  local f = string.rep("%%", 1000000)
  while true do string.format(f) end
end

-- tostring of megabytes, in a loop.
-- expect: limit_instructions
function run()
  local s = string.rep("x", 4000000)
  while true do tostring(s) end
end

-- A megabyte made and dropped each round.
-- expect: limit_instructions
function run()
  local i = 0
  while true do
    i = i + 1
    local s = string.rep("x", 1000000) .. i
  end
end

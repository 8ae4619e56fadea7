-- Megabytes copied by the operator, far more than instructions.
-- expect: limit_instructions
-- expect on piccolo: limit_memory
function run()
  local s = string.rep("x", 2000000)
  while true do local t = s .. "y" end
end

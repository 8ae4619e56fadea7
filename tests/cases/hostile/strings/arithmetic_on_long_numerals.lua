-- Arithmetic converts a text of a hundred thousand digits each time. It counts as one instruction, so time may come first.
-- expect: limit_instructions|limit_wall
function run()
  local s = string.rep("1", 100000)
  while true do local x = pcall(function() return s + 1 end) end
end

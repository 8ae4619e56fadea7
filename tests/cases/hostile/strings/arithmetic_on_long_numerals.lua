-- Arithmetic converts a text of a hundred thousand digits each time. It costs its digits.
-- expect: limit_instructions
-- expect on piccolo: limit_wall|worker_crashed
-- expect on piccolo: limit_instructions
function run()
  local s = string.rep("1", 100000)
  while true do local x = pcall(function() return s + 1 end) end
end

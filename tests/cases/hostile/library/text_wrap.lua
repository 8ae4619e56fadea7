-- Megabytes without a blank, wrapped to one character.
-- expect: limit_instructions|limit_memory
function run()
  local s = string.rep("x", 500000)
  while true do
    text.wrap(s, 1)
    text.wrap(string.rep(" x", 100000), 3)
  end
end

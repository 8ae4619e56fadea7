-- Repetitive text searched for what is nearly in it.
-- expect: limit_instructions
function run()
  local s = string.rep("a", 1000000)
  local part = string.rep("a", 500000) .. "b"
  while true do
    text.contains(s, part)
    text.count(s, part)
    text.starts_with(s, part)
    text.ends_with(s, part)
  end
end

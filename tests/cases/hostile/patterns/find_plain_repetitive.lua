-- Plain find of a text that differs only at its end: n times m.
-- expect: limit_instructions
function run()
  local s = string.rep("a", 1000000)
  local part = string.rep("a", 500000) .. "b"
  while true do string.find(s, part, 1, true) end
end

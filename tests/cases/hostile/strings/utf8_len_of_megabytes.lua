-- utf8.len walks the whole text.
-- expect: limit_instructions
function run()
  local s = string.rep("é", 1000000)
  while true do utf8.len(s) end
end

-- utf8.offset walks from one end to the other.
-- expect: limit_instructions
function run()
  local s = string.rep("é", 1000000)
  while true do
    utf8.offset(s, 999999)
    utf8.offset(s, -999999)
  end
end

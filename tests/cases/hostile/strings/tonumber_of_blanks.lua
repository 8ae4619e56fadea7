-- A million blanks around a digit.
-- expect: limit_instructions
function run()
  local s = string.rep(" ", 1000000) .. "1" .. string.rep(" ", 1000000)
  while true do tonumber(s) end
end

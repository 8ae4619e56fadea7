-- A hexadecimal float of a million digits.
-- expect: limit_instructions
function run()
  local s = "0x" .. string.rep("f", 1000000) .. ".8p-4"
  while true do tonumber(s) end
end

-- The slowest arithmetic there is, in a loop.
-- expect: limit_instructions
function run()
  local x = math.maxinteger
  while true do x = (x // 3 % 7) ^ 2.5 // 1 | 0x7fffffffffff end
end

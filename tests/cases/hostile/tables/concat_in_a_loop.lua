-- A million bytes joined again and again.
-- expect: limit_instructions
function run()
  local t, s = {}, string.rep("x", 10000)
  for i = 1, 100 do t[i] = s end
  while true do table.concat(t) end
end

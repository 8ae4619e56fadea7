-- Every byte below 128, alone.
-- generates: source
-- expect: plan_syntax
function run()
  local t = {}
  for i = 0, 127 do t[#t + 1] = string.char(i) end
  return table.concat(t)
end

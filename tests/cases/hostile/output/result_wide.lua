-- A result of a million numbers.
-- expect: limit_output|limit_memory|value_too_large|limit_instructions
function run()
  local t = {}
  for i = 1, 400000 do t[i] = i end
  return t
end

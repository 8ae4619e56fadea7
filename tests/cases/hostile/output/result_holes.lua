-- A list of mostly holes.
-- expect: value_key_unsupported
function run()
  local t = {}
  for i = 1, 100 do t[i] = i end
  for i = 1, 99 do t[i] = nil end
  return t
end

-- Indices so large that an array up to them would be huge.
-- expect: result: 4
function run()
  local t = {}
  t[1 << 40], t[math.maxinteger], t[math.mininteger], t[1 << 53] = 1, 2, 3, 4
  local n = 0
  for _ in pairs(t) do n = n + 1 end
  return n
end

-- CVE-2025-46817, the other half: sizes of tables near the ends of the integers.
-- expect: result: 8
-- expect: limit_memory
function run()
  local t = {}
  for _, k in ipairs({ 2147483647, 2147483648, 4294967295, 4294967296, 1 << 62, math.maxinteger, math.mininteger, -1 }) do t[k] = k end
  local n = 0
  for k, v in pairs(t) do
    assert(k == v)
    n = n + 1
  end
  return n
end

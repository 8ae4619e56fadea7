-- CVE-2025-46817: the count of results of unpack overflowed an integer.
-- expect: result: "refused"
function run()
  local max, min = math.maxinteger, math.mininteger
  for _, r in ipairs({ { 1, max }, { min, max }, { 0, max }, { -1, max - 1 }, { min, 0 }, { 1, 2147483647 }, { -2147483648, 2147483647 }, { 0, 2147483647 }, { 2147483647 - 4294967296, -1 }, { 1, 1e15 } }) do
    assert(not pcall(table.unpack, {}, r[1], r[2]), r[1])
  end
  assert(select("#", table.unpack({}, max, max)) == 1 and select("#", table.unpack({}, min, min)) == 1)
  assert(select("#", table.unpack({}, max, min)) == 0 and select("#", table.unpack({}, max - 1, max)) == 2)
  return "refused"
end

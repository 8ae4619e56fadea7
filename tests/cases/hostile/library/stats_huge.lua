-- Statistics of lists that lie about their items.
-- expect: result: "ended"
-- expect: limit_instructions|limit_memory
function run()
  local odd = { { 0 / 0, 1 }, { math.huge, -math.huge }, { 1e308, 1e308 }, { "1", "x" }, { {}, {} }, {}, { math.maxinteger, math.maxinteger } }
  for _, l in ipairs(odd) do
    for name, f in pairs(stats) do
      pcall(f, l)
      pcall(f, l, "key")
      pcall(f, l, 1e6)
      pcall(f, l, -1)
      pcall(f, l, l)
    end
  end
  return "ended"
end

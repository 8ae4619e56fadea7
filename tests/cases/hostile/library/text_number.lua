-- Digits beyond any float.
-- expect: result: "ended"
function run()
  for _, x in ipairs({ 1e308, -1e308, 5e-324, 0 / 0, math.huge, math.mininteger, string.rep("9", 1000) }) do
    for _, d in ipairs({ 0, 2, 1000000, -5, 1.5, math.maxinteger }) do pcall(text.number, x, d, string.rep(",", 1000)) end
  end
  return "ended"
end

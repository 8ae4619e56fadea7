-- Digits beyond any number.
-- expect: result: "ended"
function run()
  for _, x in ipairs({ 1.5, 1e308, 5e-324, 0 / 0, math.huge, "1.5", string.rep("1", 10000) .. ".5" }) do
    for _, d in ipairs({ 0, 400, -400, math.maxinteger, math.mininteger, 0.5 }) do pcall(stats.round, x, d) pcall(math.round, x, d) end
  end
  return "ended"
end

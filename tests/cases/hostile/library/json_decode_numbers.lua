-- Numbers of a hundred thousand digits, exponents beyond any float.
-- expect: result: "ended"
function run()
  for _, s in ipairs({ string.rep("1", 100000), "1e999999999", "-1e-999999999", "0." .. string.rep("0", 100000) .. "1", "1E+", "01", "-", "1e" .. string.rep("9", 10000), "9223372036854775808", "NaN", "Infinity" }) do pcall(json.decode, s) end
  return "ended"
end

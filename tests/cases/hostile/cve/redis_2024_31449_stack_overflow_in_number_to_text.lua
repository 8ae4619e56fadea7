-- CVE-2024-31449: the bit library wrote a number as text into a buffer on the stack, with a width it took from the script. Here: every function that writes a number with a width or a count of digits.
-- expect: result: "ended"
-- expect: limit_memory
function run()
  for _, n in ipairs({ math.mininteger, -2147483648, 2147483648, -1, 1e308, -1e308 }) do
    for _, d in ipairs({ 1, 99, 100, 4096, -2147483648, 2147483647, math.mininteger, math.maxinteger }) do
      pcall(string.format, "%" .. d .. "d", n)
      pcall(string.format, "%." .. d .. "f", n)
      pcall(string.format, "%." .. d .. "x", n)
      pcall(text.number, n, d)
      pcall(stats.round, n, d)
      pcall(tonumber, tostring(n), d)
      pcall(string.format, "%a %q %i %u %g %e", n, n, n, n, n, n)
    end
  end
  return "ended"
end

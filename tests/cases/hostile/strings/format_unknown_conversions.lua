-- Conversions C knows and Lua does not: %n, %hhd, %*d, %1$s, %ls.
-- expect: result: "refused"
function run()
  for _, f in ipairs({ "%n", "%hhd", "%*d", "%1$s", "%ls", "%lld", "%", "%-", "%#", "%0", "%.", "%..1f", "%5.5.5f", "%F", "%m", "%S", "%D", "%123d", "%.123d", "%" .. string.rep("-", 30) .. "d" }) do
    assert(not pcall(string.format, f, 1, 1, 1), f)
  end
  return "refused"
end

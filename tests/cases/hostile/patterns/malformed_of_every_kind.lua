-- Every way to write a pattern wrongly, against subjects of every length.
-- expect: result: "refused"
function run()
  local bad = { "%", "[", "[]", "[^", "[%", "[a-", "(", "(()", ")", "%1", "%9", "(%1", "%b", "%bx", "%f", "%fa", "[[", "%f[", "[a-%", "x%" }
  for _, pattern in ipairs(bad) do
    for _, subject in ipairs({ "", "a", "aa", string.rep("(a", 50) }) do
      assert(not pcall(string.find, subject .. "x", "x?" .. pattern), pattern)
    end
  end
  return "refused"
end

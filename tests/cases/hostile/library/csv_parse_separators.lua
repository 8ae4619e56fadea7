-- Separators of every odd kind.
-- expect: result: "ended"
function run()
  for _, sep in ipairs({ "", "ab", '"', "\n", "\r", "\0", "\xFF", "é", 1, {}, true }) do pcall(csv.parse, "a,b\n1,2", { separator = sep }) pcall(csv.encode, { { a = 1 } }, { separator = sep, newline = sep }) end
  return "ended"
end

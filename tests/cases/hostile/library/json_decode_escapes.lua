-- Escapes that are half a pair, cut off, or spell NUL.
-- expect: result: "ended"
function run()
  for _, s in ipairs({ '"\\ud800"', '"\\udc00\\ud800"', '"\\u00"', '"\\u000', '"\\x"', '"\\u0000"', '"\1"', '"\xFF"', '"\xED\xA0\x80"', "\xEF\xBB\xBF1", "1 2", "[1,]", '{"a"}', "nul", string.rep("\\", 10001) }) do pcall(json.decode, s) end
  return "ended"
end

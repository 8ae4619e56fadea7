-- Overlong, surrogate, too large, cut off.
-- expect: result: [null,null,null,null,null,"refused"]
function run()
  local r = {}
  for i, s in ipairs({ "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\xFF" }) do
    r[i] = utf8.len(s) == nil and null or utf8.len(s)
  end
  assert(not pcall(utf8.char, -1) and not pcall(utf8.char, 1 << 31) and not pcall(utf8.codepoint, "\xFF"))
  r[6] = "refused"
  return r
end

-- string.pack of paddings and sizes beyond reason.
-- expect: result: "refused"
-- expect: limit_memory
function run()
  for _, f in ipairs({ "i17", "i0", "!17i4", "c99999999999999999999", "!3 i4", "Xz", "X", "i99999999999", "c", "d<" .. string.rep("x", 10) .. "Xs" }) do
    assert(not pcall(string.pack, f, 1, 1), f)
  end
  return "refused"
end

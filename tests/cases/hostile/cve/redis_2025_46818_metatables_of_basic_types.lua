-- CVE-2025-46818: metatables of basic types could be changed, and ran in the context of another user's script. Here: every way to one.
-- expect: result: "out of reach"
function run()
  for _, v in ipairs({ "", 1, 1.5, true, print, coroutine.create(print), null }) do
    assert(type(getmetatable(v)) ~= "table", type(v))
    assert(not pcall(setmetatable, v, { __index = {} }), type(v))
  end
  assert(type(getmetatable(nil)) ~= "table")
  assert(not pcall(rawset, "", "x", 1) and not pcall(rawget, "", "x"))
  assert(not pcall(function() local s = "" s.x = 1 end))
  return "out of reach"
end

-- The metatable of strings is out of reach, by every way to it.
-- expect: result: "ended"
function run()
  local mt = getmetatable("")
  assert(type(mt) ~= "table")
  assert(not pcall(setmetatable, "", {}))
  for _, v in ipairs({ 1, true, print, coroutine.create(print), null }) do
    assert(type(getmetatable(v)) ~= "table")
    assert(not pcall(setmetatable, v, {}))
  end
  return "ended"
end

-- The metatable of a failed call's value, by every way to it.
-- expect: result: "ended"
function run()
  local r = fail("broken")
  if r.error then
    local mt = getmetatable(r)
    assert(type(mt) ~= "table")
    assert(not pcall(setmetatable, r, {}))
    assert(not pcall(rawset, r, "error", nil))
    assert(not pcall(next, r))
  end
  return "ended"
end

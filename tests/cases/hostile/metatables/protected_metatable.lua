-- `__metatable` of every kind, and what setmetatable and getmetatable make of it.
-- expect: result: "ended"
function run()
  for _, p in ipairs({ false, 1, "locked", {}, print }) do
    local t = setmetatable({}, { __metatable = p })
    assert(not pcall(setmetatable, t, nil))
    getmetatable(t)
  end
  return "ended"
end

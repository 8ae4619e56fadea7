-- The host's own tables are given other metatables, and their metatables looked for.
-- expect: result: [null,null,"changed"]
function run(context)
  local t = echo({ a = 1, b = { c = 2 } })
  local seen = getmetatable(t)
  local inner = getmetatable(t.b)
  setmetatable(t, { __index = function() return "changed" end })
  return { seen == nil and null or 1, inner == nil and null or 1, t.x }
end

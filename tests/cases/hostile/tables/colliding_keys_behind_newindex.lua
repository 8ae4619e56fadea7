-- The table that grows is behind two `__newindex`, and the keys come from rawset, a global and an assignment.
-- expect: limit_instructions share places
-- expect on piccolo: limit_instructions
-- expect on piccolo: result: "grown"
-- limits: memory=64MiB
function run()
  local inner = {}
  local middle = setmetatable({}, { __newindex = inner })
  local outer = setmetatable({}, { __newindex = middle })
  local ways = {
    function(k) outer[k] = true end,
    function(k) rawset(inner, k, true) end,
  }
  local step = (1 << 18) - 1
  for i = 1, (1 << 17) + 1 do ways[i % 2 + 1](i * step) end
  return "grown"
end

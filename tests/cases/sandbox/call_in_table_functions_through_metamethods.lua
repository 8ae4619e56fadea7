-- result: ["a-b",["x"],"z"]
function run()
  local words = { "a", "b" }
  local t = setmetatable({}, {
    __len = function() return echo(2) end,
    __index = function(_, i) return echo(words[i]) end,
    __newindex = function(_, i, v) words[i] = echo(v) end,
  })
  local joined = table.concat({ table.unpack(t) }, "-")
  local moved = table.move(setmetatable({}, { __index = function() return echo("x") end }), 1, 1, 1, {})
  table.insert(t, "z")
  return { joined, moved, words[3] }
end

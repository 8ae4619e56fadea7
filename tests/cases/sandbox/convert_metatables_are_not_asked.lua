-- result: {"a":1}
function run()
  local spin = function() error("asked") end
  return echo(setmetatable({ a = 1 }, { __index = spin, __len = spin, __pairs = spin, __tostring = spin }))
end

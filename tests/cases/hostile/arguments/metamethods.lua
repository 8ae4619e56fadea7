-- Arguments whose metamethods never return.
-- expect: result: {"a":1}
function run()
  local spin = function() while true do end end
  return echo(setmetatable({ a = 1 }, { __index = spin, __len = spin, __pairs = spin, __name = spin }))
end

-- error: call_not_possible_here `echo` was called where the plan cannot pause
function run()
  local mt = { __lt = function() return echo(true) end }
  return math.max(setmetatable({}, mt), setmetatable({}, mt))
end
-- engine: mlua (on the second engine its `math.max` takes numbers alone)

-- More branches with a call than calls are allowed.
-- expect: limit_tool_calls
function run()
  local fs = {}
  for i = 1, 1000 do fs[i] = function() return echo(i) end end
  parallel(fs)
end

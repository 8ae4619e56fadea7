-- error: call_not_possible_here `echo` was called where the plan cannot pause
function run()
  local t = setmetatable({}, { __tostring = function() return echo("text") end })
  local refused = 0
  for _, f in ipairs({ tostring, print, function(x) return string.format("%s", x) end }) do
    refused = refused + (pcall(f, t) and 0 or 1)
  end
  assert(refused == 3)
  return tostring(t)
end
-- engine: mlua (on the second engine a call is possible there)

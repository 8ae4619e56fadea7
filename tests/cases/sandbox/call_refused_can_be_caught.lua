-- result: [false,true,"still here"]
function run()
  local mt = { __lt = function() return echo(true) end }
  local ok, why = pcall(math.max, setmetatable({}, mt), setmetatable({}, mt))
  return { ok, why:find("cannot pause", 1, true) ~= nil, echo("still here") }
end
-- engine: mlua (on the second engine the call is possible there)

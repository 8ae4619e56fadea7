-- result: [7,"xy","yx"]
function run()
  local mt = { __len = function() return echo(7) end }
  mt.__concat = function(a, b)
    return type(a) == "string" and echo(a .. "y") or echo("y" .. b)
  end
  local t = setmetatable({}, mt)
  return { #t, "x" .. t, t .. "x" }
end

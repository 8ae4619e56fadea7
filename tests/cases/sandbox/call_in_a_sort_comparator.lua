-- result: [3,2,1]
function run()
  local t = { 1, 3, 2 }
  table.sort(t, function(a, b) return echo(a) > echo(b) end)
  return t
end

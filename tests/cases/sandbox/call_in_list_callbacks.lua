-- result: [[1,4,9],6,[3,2,1]]
function run()
  local squares = list.map({ 1, 2, 3 }, function(x) return echo(x * x) end)
  local sum = list.reduce({ 1, 2, 3 }, function(a, x) return echo(a + x) end, 0)
  local sorted = list.sort_by({ 1, 3, 2 }, function(x) return echo(-x) end)
  return { squares, sum, sorted }
end

-- result: [{"x":1},{"x":1},[{"x":1}]]
function run()
  local t = { x = 1 }
  return echo({ t, t, { t } })
end

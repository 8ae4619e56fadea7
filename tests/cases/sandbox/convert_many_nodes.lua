-- error: limit_memory
function run()
  local row, t = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, {}
  for i = 1, 200000 do t[i] = row end
  echo(t)
end
-- engine: mlua (on the second engine its instructions are used up before)

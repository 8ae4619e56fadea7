-- result: true
function run()
  local t = {}
  for i = 1, 120 do t = { t } end
  return type(echo(t)) == "table"
end

-- error: value_too_deep is nested deeper than
function run()
  local t = {}
  for i = 1, 128 do t = { t } end
  echo(t)
end

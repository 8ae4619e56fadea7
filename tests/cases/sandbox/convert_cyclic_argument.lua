-- error: value_cyclic `echo.a.b` contains itself
function run()
  local t = { a = {} }
  t.a.b = t
  echo(t)
end

-- error: value_cyclic `result.a.b` contains itself
function run()
  local t = { a = {} }
  t.a.b = t
  return t
end

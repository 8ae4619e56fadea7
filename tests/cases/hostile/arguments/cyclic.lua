-- An argument that holds itself.
-- expect: value_cyclic
function run()
  local t = {}
  t.t = t
  echo(t)
end

-- A table that holds itself.
-- expect: value_cyclic
function run()
  local t = {}
  t[1] = { a = { t } }
  return t
end

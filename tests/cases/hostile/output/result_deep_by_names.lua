-- The same with names.
-- expect: value_too_deep
function run()
  local t = {}
  for i = 1, 10000 do t = { a = t } end
  return t
end

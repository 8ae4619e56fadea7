-- A result nested deeper than any reader likes.
-- expect: value_too_deep
function run()
  local t = {}
  for i = 1, 10000 do t = { t } end
  return t
end

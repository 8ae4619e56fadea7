-- The same of empty tables, whose nodes take no bytes in the VM.
-- expect: limit_memory|value_too_large
function run()
  local t = {}
  for i = 1, 40 do t = { t, t, t } end
  return t
end

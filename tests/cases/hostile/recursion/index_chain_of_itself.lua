-- A table whose `__index` is the table.
-- expect: plan_error loop
-- expect: limit_instructions
function run()
  local t = {}
  setmetatable(t, { __index = t, __newindex = t })
  return t.x
end

-- An `__index` chain of thousands of tables.
-- expect: plan_error
-- expect: limit_instructions|limit_memory
function run()
  local t = {}
  for i = 1, 10000 do t = setmetatable({}, { __index = t }) end
  while true do local x = t.missing end
end

-- A table called by a table called by a table, two hundred times.
-- expect: plan_error
-- expect: limit_depth|limit_instructions|limit_memory
-- expect: result: "called"
function run()
  local t = function() return "called" end
  for i = 1, 100000 do t = setmetatable({}, { __call = t }) end
  return t()
end

-- A table called by a table called by a table, two hundred times.
-- late: 1500 ms, as Lua walks a chain of `__call` in one instruction, moving the stack at each link
-- expect: plan_error
-- expect: limit_depth|limit_instructions|limit_memory
-- expect: result: "called"
function run()
  local t = function() return "called" end
  for i = 1, 100000 do t = setmetatable({}, { __call = t }) end
  return t()
end
